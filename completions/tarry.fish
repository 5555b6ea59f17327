# fish completion for tarry. Commands, options and sections are read from tarry's own help, so that
# they cannot differ from what the program takes.
function __tarry_commands
	tarry --help 2>/dev/null | sed -n 's/^  *tarry \([a-z]*\) .*/\1/p'
end
function __tarry_words
	set -l cmd (commandline -opc)
	test (count $cmd) -ge 2; or return
	# What has options of its own.
	set -l what
	contains $cmd[2] dump report; and set what (string match -r '^(?:flow|memory|sharing)$' $cmd[3..-1])[-1]
	tarry $cmd[2] $what --help 2>/dev/null | sed -n 's/^ *\(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p; s/^  \([a-z][a-z]*\)  .*/\1/p'
end
complete -c tarry -n 'test (count (commandline -opc)) -eq 1' -f -a '(__tarry_commands) --help --version'
complete -c tarry -n 'test (count (commandline -opc)) -ge 2' -a '(__tarry_words)'
