// Sounds of seeds, made by the browser itself. They can be turned off.

import { recall, remember } from "./memory.js";

let context = null;

export const isOn = () => recall("sound") !== "off";

export function set(on) {
  remember("sound", on ? "on" : "off");
}

// A seed falls into a pit.
export const drop = () => knock(320 + 60 * Math.random(), 0.05, 0.12);

// Seeds are taken.
export const take = () => knock(190, 0.12, 0.2);

// A short wooden sound: a tone that falls and fades. Browsers allow it only to readers who
// have touched the page.
function knock(pitch, seconds, loudness) {
  if (!isOn() || !navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  const now = context.currentTime;
  const tone = context.createOscillator(), volume = context.createGain();
  tone.type = "triangle";
  tone.frequency.setValueAtTime(pitch, now);
  tone.frequency.exponentialRampToValueAtTime(pitch / 2, now + seconds);
  volume.gain.setValueAtTime(loudness, now);
  volume.gain.exponentialRampToValueAtTime(0.001, now + seconds);
  tone.connect(volume).connect(context.destination);
  tone.start(now);
  tone.stop(now + seconds);
}
