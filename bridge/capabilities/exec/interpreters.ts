import { basename } from 'node:path';

/** How an interpreter can be given a script's bytes instead of its file; `none`: not possible. */
export type ScriptFeed = 'shell' | 'python' | 'node' | 'perl' | 'file' | 'none';

interface Interpreter {
  feed: ScriptFeed;
  /** Matches an option followed by code. */
  inline?: RegExp;
  /** Options that take the next argument as their value. */
  valued?: RegExp;
  /** Options or words that make it find its files without a script operand. */
  unscripted?: RegExp;
  /** Options that name the script; otherwise it is the first operand. */
  scriptOption?: RegExp;
  /** Words before the script, such as `run`. */
  subcommand?: RegExp;
}

const SHELL: Interpreter = {
  feed: 'shell',
  inline: /^[-+][A-Za-z]*c[A-Za-z]*$/,
  valued: /^([-+][A-Za-z]*[oO]|--rcfile|--init-file)$/,
  unscripted: /^-[A-Za-z]*s[A-Za-z]*$/,
};
const NODE: Interpreter = {
  feed: 'node',
  inline: /^(-[ep]+|--eval|--print)$/,
  valued: /^(-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|--title|--input-type)$/,
  unscripted:
    /^(--test|--watch|--watch-path|--run|--eval=.*|--print=.*|inspect|-i|--interactive|--build-snapshot|--experimental-sea-config)$/,
};
const createInterpreter = (inline: RegExp, subcommand?: RegExp): Interpreter => ({
  feed: 'none',
  inline,
  ...(subcommand ? { subcommand } : {}),
});

const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  ...Object.fromEntries(['sh', 'bash', 'dash', 'ash', 'ksh', 'mksh', 'zsh'].map((name) => [name, SHELL])),
  python: { feed: 'python', inline: /^-[A-Za-z]*c$/, valued: /^(-[WX]|--check-hash-based-pycs)$/, unscripted: /^-[A-Za-z]*m.*$/ },
  node: NODE,
  perl: { feed: 'perl', inline: /^-[A-Za-z]*[eE]$/, valued: /^-[I]$/ },
  awk: { feed: 'file', scriptOption: /^(-f|--file)$/ },
  sed: { feed: 'file', scriptOption: /^(-[nErsuz]*f|--file)$/ },
  fish: createInterpreter(/^(-c|--command)$/),
  ruby: createInterpreter(/^-[A-Za-z]*e$/),
  php: createInterpreter(/^(-r|--run)$/),
  lua: createInterpreter(/^-e$/),
  rscript: createInterpreter(/^-e$/),
  tclsh: createInterpreter(/^-c$/),
  julia: createInterpreter(/^(-e|--eval|-E|--print)$/),
  groovy: createInterpreter(/^-e$/),
  osascript: createInterpreter(/^-e$/),
  pwsh: createInterpreter(/^(-c|-command)$/i, /^(-f|-file)$/i),
  deno: createInterpreter(/^eval$/, /^run$/),
  bun: createInterpreter(/^(-e|--eval|-p|--print)$/, /^run$/),
  tsx: createInterpreter(/^(-e|--eval|-p|--print)$/),
  'ts-node': createInterpreter(/^(-e|--eval|-p|--print)$/),
};
const ALIASES: Readonly<Record<string, string>> = {
  pypy: 'python',
  nodejs: 'node',
  gawk: 'awk',
  mawk: 'awk',
  nawk: 'awk',
  rbash: 'bash',
  powershell: 'pwsh',
};

/** Programs that find the code to run in a folder's files, or run programs named by their arguments or settings. */
const LOADERS = new Set(
  `make gmake cmake ninja meson bazel cargo go gradle mvn ant dotnet java docker docker-compose podman just task rake bundle composer tox nox pytest
   find parallel git hg svn ssh scp sftp rsync sqlite3 psql mysql less man vi vim ex nvim ed emacs m4 dc gdb strace ltrace script flock watch
   entr run-parts chroot unshare nsenter setpriv busybox expect screen tmux su runuser exiftool pandoc`.split(/\s+/),
);

const MAKEFILES = ['GNUmakefile', 'makefile', 'Makefile'];
const PACKAGE_FILES = ['package.json', '.npmrc'];
const HOOK_FILES = 'pre-commit prepare-commit-msg commit-msg post-commit pre-push pre-rebase post-checkout post-merge post-rewrite'.split(
  ' ',
);

/** Project files that tell a program what to run, without modules and settings elsewhere. */
const PROJECT_FILES: Readonly<Record<string, readonly string[]>> = {
  make: MAKEFILES,
  gmake: MAKEFILES,
  ...Object.fromEntries(['npm', 'npx', 'pnpm', 'yarn', 'bun'].map((name) => [name, PACKAGE_FILES])),
  git: ['.git/config', ...HOOK_FILES.map((name) => `.git/hooks/${name}`)],
  just: ['justfile', '.justfile'],
  task: ['Taskfile.yml', 'Taskfile.yaml'],
  rake: ['Rakefile'],
  cargo: ['Cargo.toml', 'build.rs'],
  tox: ['tox.ini', 'pyproject.toml', 'setup.cfg'],
  nox: ['noxfile.py'],
  pytest: ['conftest.py', 'pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini'],
};

export const getProjectFiles = (word: string): readonly string[] => {
  const name = toProgramName(word);
  return Object.hasOwn(PROJECT_FILES, name) ? (PROJECT_FILES[name] ?? []) : [];
};

/** Programs that run another program named in their arguments, and the operands before it. */
const WRAPPERS: Readonly<Record<string, { valued?: RegExp; operands?: number }>> = {
  env: { valued: /^(-u|--unset|-C|--chdir)$/ },
  nice: { valued: /^(-n|--adjustment)$/ },
  nohup: {},
  setsid: {},
  time: { valued: /^-[fo]$/ },
  stdbuf: { valued: /^-[ioe]$/ },
  timeout: { valued: /^(-[ks]|--kill-after|--signal)$/, operands: 1 },
  ionice: { valued: /^-[cnpP]$/ },
  chrt: { operands: 1 },
  taskset: { operands: 1 },
  xargs: { valued: /^-[aEdILnPs]$/ },
  sudo: { valued: /^-[ugpChTDRr]$/ },
  doas: { valued: /^-[uC]$/ },
};

/** Returns a program's name without folder, version and Windows' extension. */
export const toProgramName = (path: string): string =>
  basename(path.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.exe$/, '')
    .replace(/(?<=[a-z])[-.]?\d[\d.]*$/, '');

/** Finds the interpreter that a program is, by its called name or its file's name. */
export function findInterpreter(...paths: string[]): Interpreter | undefined {
  const names = paths.map(toProgramName);
  const name = names.map((each) => ALIASES[each] ?? each).find((each) => Object.hasOwn(INTERPRETERS, each));
  return name === undefined ? undefined : INTERPRETERS[name];
}

export const isLoader = (path: string): boolean => LOADERS.has(toProgramName(path));

export const isWrapper = (path: string): boolean => Object.hasOwn(WRAPPERS, toProgramName(path));

/** Returns the index of the program in a wrapper's arguments; -1 if there is none. */
export function findWrapped(path: string, args: readonly string[]): number {
  const { valued, operands = 0 } = WRAPPERS[toProgramName(path)] ?? {};
  let skipped = 0;
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (valued?.test(arg)) at++;
    else if (arg.startsWith('-') || /^[A-Za-z_]\w*=/.test(arg)) continue;
    else if (skipped++ >= operands) return at;
  }
  return -1;
}

type Operand =
  /** A script file. `at`: index; `prefix`: option joined with it. */
  | { kind: 'script'; at: number; prefix?: string }
  /** Code in the argument `at`. */
  | { kind: 'inline'; at: number }
  /** The interpreter finds its files itself, such as a module by name. */
  | { kind: 'unscripted' };

/** Finds the code in an interpreter's arguments; several scripts if each has an option. Empty: reads standard input. */
export function findOperands(interpreter: Interpreter, args: readonly string[]): Operand[] {
  const { inline, valued, unscripted, scriptOption, subcommand } = interpreter;
  const found: Operand[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (scriptOption) {
      const [, prefix] = /^(-[a-zA-Z]*f|--file=)./s.exec(arg) ?? [];
      if (scriptOption.test(arg) && at + 1 < args.length) found.push({ kind: 'script', at: ++at });
      else if (prefix !== undefined) found.push({ kind: 'script', at, prefix });
      continue;
    }
    if (unscripted?.test(arg)) return [{ kind: 'unscripted' }];
    if (inline?.test(arg)) {
      // `sh -ec -x 'code'`: more options may precede the code.
      const code = interpreter === SHELL ? args.findIndex((each, place) => place > at && !/^[-+]./.test(each)) : at + 1;
      return code > 0 && code < args.length ? [{ kind: 'inline', at: code }] : [];
    }
    if (valued?.test(arg)) at++;
    else if (arg === '--') return at + 1 < args.length ? [{ kind: 'script', at: at + 1 }] : [];
    else if (arg === '-') return [];
    else if (subcommand?.test(arg)) continue;
    else if (!arg.startsWith('-') && !(interpreter === SHELL && arg.startsWith('+'))) return [{ kind: 'script', at }];
    // Perl and others accept code joined with the option.
    else if (interpreter.feed === 'perl' && /^-[A-Za-z]*[eE]/.test(arg)) return [{ kind: 'inline', at }];
  }
  return found;
}
