"""Builds with setuptools, in a copy: nothing is left beside the source."""
import os
import shutil
import tempfile

from setuptools import build_meta

if hasattr(build_meta, "build_editable"):  # which is about the source itself
    build_editable = build_meta.build_editable


def _in_a_copy(build, target, settings):
    here, target = os.getcwd(), os.path.abspath(target)
    with tempfile.TemporaryDirectory() as place:
        os.chdir(shutil.copytree(here, os.path.join(place, "grenier"), ignore=shutil.ignore_patterns("__pycache__")))
        try:
            return build(target, settings)
        finally:
            os.chdir(here)
            shutil.rmtree("__pycache__", ignore_errors=True)  # of this module


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _in_a_copy(build_meta.build_wheel, wheel_directory, config_settings)


def build_sdist(sdist_directory, config_settings=None):
    return _in_a_copy(build_meta.build_sdist, sdist_directory, config_settings)
