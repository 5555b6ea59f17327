# bash completion for tarry. Commands, options and sections are read from tarry's own help, so that
# they cannot differ from what the program takes.
# Recordings and folders; any file where no recording begins so. Hidden ones (indices) only when asked for.
_tarry_files() { # BEGIN
	local f hidden=. all=() some=()
	[[ ${1##*/} == .* ]] && hidden=
	while IFS= read -r f; do
		[[ -n $hidden && ${f##*/} == .* ]] && continue
		all+=("$f")
		[[ -d $f || $f == *.dat || $f == *.data ]] && some+=("$f")
	done < <(compgen -f -- "$1")
	if [ ${#some[@]} -gt 0 ]; then printf '%s\n' "${some[@]}"; elif [ ${#all[@]} -gt 0 ]; then printf '%s\n' "${all[@]}"; fi
}
_tarry() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} cmd=${COMP_WORDS[1]}
	local tarry=${COMP_WORDS[0]} help what= i
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		help=$("$tarry" --help 2>/dev/null | sed -n 's/^  *tarry \([a-z]*\) .*/\1/p')
		mapfile -t COMPREPLY < <(compgen -W "$help --help --version" -- "$cur")
		return
	fi
	# Behind -- stands a command of its own.
	for ((i = 2; i < COMP_CWORD; i++)); do
		if [ "${COMP_WORDS[i]}" = -- ]; then
			mapfile -t COMPREPLY < <(compgen -c -- "$cur")
			return
		fi
		# What has options of its own.
		case $cmd:${COMP_WORDS[i]} in dump:flow | report:flow | report:memory | report:sharing) what=${COMP_WORDS[i]} ;; esac
	done
	help=$("$tarry" "$cmd" $what --help 2>/dev/null) || return
	case $prev in
	-o | --output) mapfile -t COMPREPLY < <(compgen -f -- "$cur") && return ;;
	--to | --format) [ "$cmd" = export ] && mapfile -t COMPREPLY < <(compgen -W 'perf dat' -- "$cur") && return ;;
	--clock) mapfile -t COMPREPLY < <(compgen -W 'start wall trace' -- "$cur") && return ;;
	--color) mapfile -t COMPREPLY < <(compgen -W 'auto always never truecolor 256 16' -- "$cur") && return ;;
	-p | --pid) mapfile -t COMPREPLY < <(compgen -W "$(cd /proc && echo [0-9]*)" -- "$cur") && return ;;
	esac
	if [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\1 \2/p; s/^ *\(-[a-zA-Z]\) .*/\1/p' <<<"$help" | tr -d ,)" -- "$cur")
		return
	fi
	mapfile -t COMPREPLY < <(
		_tarry_files "$cur"
		compgen -W "$(sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p' <<<"$help")" -- "$cur"
	)
}
complete -o filenames -F _tarry tarry
