# bash completion for grenier. It needs bash alone, not the package bash-completion.

__grenier() {
	# Bash breaks words at = and : too; what no blank divides is one word of the command line.
	local line=${COMP_LINE:0:COMP_POINT} words=() n=0 i piece
	line=${line#"${COMP_WORDS[0]}"}
	for ((i = 1; i <= COMP_CWORD; i++)); do
		if [[ $line == [[:blank:]]* || $n == 0 ]]; then
			line=${line#"${line%%[![:blank:]]*}"}
			words[n++]=
		fi
		piece=${COMP_WORDS[i]}
		[[ $line == "$piece"* ]] || piece=$line # the cursor is within
		words[n - 1]+=$piece
		line=${line#"$piece"}
	done
	local cur=${words[n - 1]} program=${1/#\~/$HOME} tab=$'\t' out directive word
	for i in "${!words[@]}"; do
		words[i]=${words[i]/#\~\//$HOME/}
		words[i]=${words[i]//[\"\'\\]/}
	done
	out=$("$program" __complete "${words[@]}" 2>/dev/null) || return
	directive=${out##*:}
	out=${out%:*}
	[[ $cur == -*=* ]] && cur=${cur#*=}

	COMPREPLY=()
	local all=() longest=0
	while IFS= read -r line; do
		word=${line%%$tab*}
		[[ -n $word && $word == "$cur"* ]] || continue
		all+=("$line")
		((${#word} > longest)) && longest=${#word}
	done <<<"$out"
	for line in "${all[@]}"; do
		word=${line%%$tab*}
		if [[ ${#all[@]} -gt 1 && $COMP_TYPE != 37 && $COMP_TYPE != 42 && $line == *$tab* ]]; then # a list, with descriptions
			printf -v line '%-*s  (%s)' "$longest" "$word" "${line#*$tab}"
			COMPREPLY+=("${line:0:${COLUMNS:-80}-1}")
		else
			COMPREPLY+=("$word")
		fi
	done

	((directive & 2)) && compopt -o nospace
	((directive & 4)) && compopt +o default
	((directive & 16)) && compopt +o default -o dirnames
	((directive & 32)) && compopt -o nosort
	return 0
} 2>/dev/null # older versions lack compopt, or an option of it

complete -o default -F __grenier grenier
