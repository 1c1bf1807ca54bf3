import type { Argument, Command, Option } from 'commander';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Completions after a command's name. */
interface CompletionLevel {
  /** Words of the command, without the program's name. */
  path: string[];
  commands: { name: string; description: string }[];
  options: CompletionFlag[];
  /** Choices of its first argument. */
  choices: readonly string[];
  /** Whether its arguments are file names. */
  takesFile: boolean;
}

interface CompletionFlag {
  long: string;
  short: string | undefined;
  description: string;
  takesValue: boolean;
  choices: readonly string[];
  takesFile: boolean;
}

const isFileArgument = (name: string): boolean => /file/i.test(name);

function toCompletionFlag({ long, short, description, required, optional, argChoices = [], flags }: Option): CompletionFlag {
  return {
    long: long ?? short ?? '',
    short: short ?? undefined,
    description,
    takesValue: required || optional,
    choices: argChoices,
    takesFile: (required || optional) && isFileArgument(flags),
  };
}

/** Returns every command of a program with its options. A default command's options also count for its group. */
function listLevels(command: Command, path: string[] = []): CompletionLevel[] {
  const help = command.createHelp();
  const children = command.commands.filter((child) => !isHidden(child));
  const standard = children.find((child) => child.name() === getDefaultCommand(command));
  const flags = [command, ...(standard ? [standard] : [])].flatMap((each) => help.visibleOptions(each)).map(toCompletionFlag);
  const options = flags.filter(({ long }, at) => flags.findIndex((flag) => flag.long === long) === at);
  const args: readonly Argument[] = command.registeredArguments;
  return [
    {
      path,
      commands: children.map((child) => ({ name: child.name(), description: child.description() })),
      options,
      choices: args[0]?.argChoices ?? [],
      takesFile: args.some((argument) => isFileArgument(argument.name())),
    },
    ...children.flatMap((child) => listLevels(child, [...path, child.name()])),
  ];
}

/** Commander has no public API for these two. */
const isHidden = (command: Command): boolean => (command as unknown as { _hidden?: boolean })._hidden === true;
const getDefaultCommand = (command: Command): string | null =>
  (command as unknown as { _defaultCommandName?: string | null })._defaultCommandName ?? null;

/** Returns a shell script that completes every command, option and choice of a program. */
export function createCompletionScript(program: Command, shell: Shell): string {
  const levels = listLevels(program);
  const name = program.name();
  return { bash: createBashScript, zsh: createZshScript, fish: createFishScript }[shell](name, levels);
}

/** Quotes with single quotes for any of the three shells. */
const quoteWord = (text: string, shell: Shell): string =>
  `'${shell === 'fish' ? text.replace(/[\\']/g, '\\$&') : text.replaceAll("'", `'\\''`)}'`;
const toLevelKey = (path: readonly string[]): string => path.join(' ');

const createBashScript = (
  name: string,
  levels: readonly CompletionLevel[],
): string => `# bash completion for ${name}. Load it with: eval "$(${name} completion bash)"
_${name}() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} path='' word i
  local words='' values='' files=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${path:+$path }$word" in
${levels
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      ${quoteWord(toLevelKey(path), 'bash')}) path=${quoteWord(toLevelKey(path), 'bash')} ;;`)
  .join('\n')}
    esac
  done
  case "$path:$prev" in
${levels
  .flatMap(({ path, options }) => options.filter(({ takesValue }) => takesValue).map((option) => ({ path, option })))
  .map(({ path, option: { long, short, choices, takesFile } }) => {
    const pattern = [long, ...(short ? [short] : [])].map((flag) => quoteWord(`${toLevelKey(path)}:${flag}`, 'bash')).join('|');
    return `    ${pattern}) values=${quoteWord(choices.join(' '), 'bash')}; ${takesFile ? 'files=yes; ' : ''}words=none ;;`;
  })
  .join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$path" in
${levels
  .map(({ path, commands, options, choices, takesFile }) => {
    const words = [...commands.map((command) => command.name), ...choices].join(' ');
    const flags = options.map(({ long }) => long).join(' ');
    return `      ${quoteWord(toLevelKey(path), 'bash')}) values=${quoteWord(words, 'bash')}; ${takesFile ? 'files=yes; ' : ''}[[ $cur == -* ]] && { values=${quoteWord(flags, 'bash')}; files=; } ;;`;
  })
  .join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$values" -- "$cur"))
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
  fi
}
complete -F _${name} ${name}
`;

function createZshScript(name: string, levels: readonly CompletionLevel[]): string {
  // A colon separates a word from its description.
  const item = (word: string, description: string): string =>
    quoteWord(`${word.replaceAll(':', '\\:')}:${description.replaceAll('\\', '\\\\')}`, 'zsh');
  return `#compdef ${name}
# zsh completion for ${name}. After compinit, load it with: eval "$(${name} completion zsh)", or save it as _${name} in a folder of $fpath
_${name}() {
  local where='' word
  local -a items
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${where:+$where }$word" in
${levels
  .filter(({ path }) => path.length > 0)
  .map(({ path }) => `      ${quoteWord(toLevelKey(path), 'zsh')}) where=${quoteWord(toLevelKey(path), 'zsh')} ;;`)
  .join('\n')}
    esac
  done
  case "$where:\${words[CURRENT-1]}" in
${levels
  .flatMap(({ path, options }) => options.filter(({ takesValue }) => takesValue).map((option) => ({ path, option })))
  .map(({ path, option: { long, short, choices, takesFile } }) => {
    const pattern = [long, ...(short ? [short] : [])].map((flag) => quoteWord(`${toLevelKey(path)}:${flag}`, 'zsh')).join('|');
    const offer = takesFile
      ? '_files'
      : choices.length > 0
        ? `compadd -- ${choices.map((choice) => quoteWord(choice, 'zsh')).join(' ')}`
        : ':';
    return `    ${pattern}) ${offer}; return ;;`;
  })
  .join('\n')}
  esac
  case "$where" in
${levels
  .map(({ path, commands, options, choices, takesFile }) => {
    const flags = options.map(({ long, description }) => item(long, description)).join(' ');
    const words = [...commands.map((command) => item(command.name, command.description)), ...choices.map((choice) => item(choice, ''))];
    const offers = [
      `      if [[ $PREFIX == -* ]]; then items=(${flags}); _describe -o option items; return; fi`,
      ...(words.length > 0 ? [`      items=(${words.join(' ')}); _describe command items`] : []),
      ...(takesFile ? ['      _files'] : []),
    ];
    return `    ${quoteWord(toLevelKey(path), 'zsh')})\n${offers.join('\n')}\n      ;;`;
  })
  .join('\n')}
  esac
}
if [ "$funcstack[1]" = '_${name}' ]; then _${name} "$@"; else compdef _${name} ${name}; fi
`;
}

const createFishScript = (
  name: string,
  levels: readonly CompletionLevel[],
): string => `# fish completion for ${name}. Load it with: ${name} completion fish | source
function __${name}_at
  set -l path
  for word in (commandline -opc)[2..-1]
    switch (string join ' ' -- $path $word)
${levels
  .filter(({ path }) => path.length > 0)
  .map(
    ({ path }) =>
      `      case ${quoteWord(toLevelKey(path), 'fish')}\n        set path ${path.map((word) => quoteWord(word, 'fish')).join(' ')}`,
  )
  .join('\n')}
    end
  end
  test "$path" = "$argv"
end
complete -c ${name} -e
complete -c ${name} -f
${levels
  .flatMap(({ path, commands, options, choices, takesFile }) => {
    const at = `complete -c ${name} -n ${quoteWord(`__${name}_at ${path.join(' ')}`.trim(), 'fish')}`;
    return [
      ...commands.map((command) => `${at} -a ${quoteWord(command.name, 'fish')} -d ${quoteWord(command.description, 'fish')}`),
      ...choices.map((choice) => `${at} -a ${quoteWord(choice, 'fish')}`),
      ...(takesFile ? [`${at} -F`] : []),
      ...options.map(({ long, short, description, takesValue, choices, takesFile }) =>
        [
          `${at} -l ${long.replace(/^--/, '')}`,
          ...(short ? [`-s ${short.slice(1)}`] : []),
          // Otherwise it offers files for a value.
          ...(takesValue ? [takesFile ? '-rF' : '-x'] : []),
          ...(choices.length > 0 ? [`-a ${quoteWord(choices.join(' '), 'fish')}`] : []),
          `-d ${quoteWord(description, 'fish')}`,
        ].join(' '),
      ),
    ];
  })
  .join('\n')}
`;
