import { open, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isImmutable, MAX_HASHED_BYTES } from './file-fingerprint.ts';
import { type ScriptFeed, findInterpreter, findOperands, findWrapped, isLoader, isWrapper } from './interpreters.ts';

/** Maximum depth of interpreters that are scripts, and of programs that run another program. */
const MAX_DEPTH = 8;

/** A script as it was read, which is shown, hashed and run. */
export interface ScriptFile {
  /** Path with links resolved. */
  path: string;
  bytes: Buffer;
  isSealed: boolean;
}

/** A program's file. */
export interface ProgramFile {
  path: string;
  isSealed: boolean;
}

/** Puts scripts and programs into a command line. */
export interface Launcher {
  /**
   * Returns the words for a script operand; `before` goes before the end of options. Throws an error for the user if the interpreter can't
   * run a script's bytes.
   */
  passScript(script: ScriptFile, feed: ScriptFeed, operandText: string): Promise<{ words: string[]; before?: string[] }>;
  /** Returns the path to run a program by, and words to insert before its arguments. */
  resolveProgram(program: ProgramFile, feed: ScriptFeed | undefined): Promise<{ path: string; before?: string[] }>;
}

export interface ExpandedCommand {
  /** The program's path, its `argv[0]`, and its arguments. */
  file: string;
  argv0: string;
  args: string[];
  programs: ProgramFile[];
  scripts: ScriptFile[];
  /** Files that an interpreter is told to load, which it opens itself. */
  loaded: string[];
  /** Code in the arguments. */
  inline: string[];
  /** Whether it is an interpreter or runs other programs, so that not everything it loads is known. */
  isInterpreter: boolean;
}

export interface FoundProgram {
  /** Path as found, and with links resolved. */
  path: string;
  realPath: string;
}

interface ProgramFinder {
  dir: string;
  /** Finds a program by name or path. Throws `INVALID_PARAMS`. */
  find(command: string): Promise<FoundProgram>;
  launcher: Launcher;
}

/** Follows a command through wrappers, shebangs and interpreters to all files that it executes. */
export async function expandCommand(
  command: string,
  program: FoundProgram,
  args: readonly string[],
  finder: ProgramFinder,
): Promise<ExpandedCommand> {
  const expansion = new CommandExpansion([command, ...args], finder);
  const file = await expansion.expand(0, program, 0);
  const [argv0 = command, ...rest] = expansion.words;
  return { ...expansion.found, file, argv0, args: rest };
}

class CommandExpansion {
  readonly words: string[];
  readonly found = {
    programs: [] as ProgramFile[],
    scripts: [] as ScriptFile[],
    loaded: [] as string[],
    inline: [] as string[],
    isInterpreter: false,
  };
  readonly #finder: ProgramFinder;

  constructor(words: string[], finder: ProgramFinder) {
    this.words = words;
    this.#finder = finder;
  }

  /** Expands the words from `at` on like the system and the interpreters do. Returns the path to run the first one by. */
  async expand(at: number, { path, realPath: file }: FoundProgram, depth: number): Promise<string> {
    if (depth > MAX_DEPTH) throw new Error('too many interpreters run one another');
    await this.#expandOperands(at, file);
    const shebang = await readShebang(file);
    if (shebang) return this.#expandShebang(at, path, shebang, depth);
    if (isLoader(file) || isLoader(this.words[at] ?? '')) this.found.isInterpreter = true;
    if (isWrapper(file)) await this.#expandWrapped(at, file, depth);
    const program = { path: file, isSealed: await isImmutable(file) };
    this.found.programs.push(program);
    const launch = await this.#finder.launcher.resolveProgram(program, findInterpreter(file)?.feed);
    this.words.splice(at + 1, 0, ...(launch.before ?? []));
    return launch.path;
  }

  async #expandShebang(at: number, path: string, { interpreter, argument }: Shebang, depth: number): Promise<string> {
    this.found.isInterpreter = true;
    const [, operandText = path] = /^(.*\/.*)$/s.exec(this.words[at] ?? '') ?? [];
    this.words.splice(at, 1, interpreter, ...(argument === undefined ? [] : [argument]), operandText);
    if (basename(interpreter) !== 'env') return this.expand(at, await this.#finder.find(interpreter), depth + 1);
    if (argument?.startsWith('-S')) this.words.splice(at + 1, 1, ...argument.slice(2).trim().split(/\s+/));
    const nextWord = this.words[at + 1] ?? '';
    if (nextWord.startsWith('-') || nextWord.includes('=')) return this.expand(at, await this.#finder.find(interpreter), depth + 1);
    this.words.splice(at, 1);
    return this.expand(at, await this.#finder.find(nextWord), depth + 1);
  }

  async #expandWrapped(at: number, file: string, depth: number): Promise<void> {
    const inner = findWrapped(file, this.words.slice(at + 1));
    const options = this.words.slice(at + 1, inner < 0 ? undefined : at + 1 + inner);
    if (basename(file) === 'env' && options.some((word) => /^(-[a-z]*C|--chdir)/.test(word)))
      throw new Error('env changes the folder in which its program looks for files. Set the directory of the command');
    if (basename(file) === 'env' && options.some((word) => /^(-[i0v]*S|--split-string)/.test(word)))
      throw new Error('env splits a text into a command. Pass each argument separately');
    if (inner < 0) return;
    this.found.isInterpreter = true;
    const wordIndex = at + 1 + inner;
    const real = await this.#finder.find(this.words[wordIndex] ?? '').catch(() => undefined);
    if (real === undefined) return;
    const before = [...this.words];
    const runs = await this.expand(wordIndex, real, depth + 1);
    const isSame =
      runs === real.realPath && this.words.length === before.length && this.words.every((word, index) => word === before[index]);
    // A program with several names keeps the one that it is called by.
    if (!isSame || basename(real.realPath) === this.words[wordIndex]) this.words[wordIndex] = runs;
  }

  async #expandOperands(at: number, file: string): Promise<void> {
    const interpreter = findInterpreter(this.words[at] ?? '', file);
    if (!interpreter) return;
    this.found.isInterpreter = true;
    const { dir, launcher } = this.#finder;
    const operands = findOperands(interpreter, this.words.slice(at + 1));
    for (const operand of operands.toReversed()) {
      if (operand.kind === 'unscripted') {
        this.found.loaded.push(...(await findModules(this.words.slice(at + 1), dir)));
        continue;
      }
      let wordIndex = at + 1 + operand.at;
      const prefix = operand.kind === 'script' ? (operand.prefix ?? '') : '';
      const operandText = (this.words[wordIndex] ?? '').slice(prefix.length);
      if (operand.kind === 'inline') {
        this.found.inline.push(operandText);
        continue;
      }
      // Python can also run a folder.
      const main = join(resolve(dir, operandText), '__main__.py');
      if (interpreter.feed === 'python' && (await isFile(main))) {
        this.found.loaded.push(main);
        continue;
      }
      const path = await findScript(operandText, dir, interpreter.feed, (name) => this.#finder.find(name));
      if (path === undefined) continue;
      if ((await stat(path)).size > MAX_HASHED_BYTES) throw new Error(`the script ${path} is larger than 64 MB`);
      const script = { path, bytes: await readFile(path), isSealed: await isImmutable(path) };
      this.found.scripts.push(script);
      if (script.isSealed) continue;
      const { words, before } = await launcher.passScript(script, interpreter.feed, operandText);
      this.words.splice(wordIndex, 1, ...words.map((word, index) => (index === 0 ? prefix + word : word)));
      if (this.words[wordIndex - 1] === '--') {
        if (before) wordIndex--;
        else this.words.splice(wordIndex - 1, 1);
      }
      if (before) this.words.splice(wordIndex, 0, ...before);
    }
  }
}

interface Shebang {
  interpreter: string;
  argument?: string;
}

/** Returns the interpreter of a script's shebang line. Like on Linux, the rest of the line is one argument. */
async function readShebang(file: string): Promise<Shebang | undefined> {
  const handle = await open(file, 'r').catch(() => undefined);
  if (!handle) return undefined;
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    const line = /^#![ \t]*([^\s]+)[ \t]*([^\n]*)/.exec(buffer.toString('utf8', 0, bytesRead));
    if (!line?.[1]) return undefined;
    const argument = line[2]?.trimEnd();
    return { interpreter: line[1], ...(argument ? { argument } : {}) };
  } finally {
    await handle.close();
  }
}

const isFile = async (path: string): Promise<boolean> => (await stat(path).catch(() => undefined))?.isFile() === true;

/**
 * Returns a script operand's file with links resolved; undefined for a device such as `/dev/null`. Throws an error for the user if there is
 * none.
 */
async function findScript(
  operandText: string,
  dir: string,
  feed: ScriptFeed,
  find: (name: string) => Promise<FoundProgram>,
): Promise<string | undefined> {
  const path = resolve(dir, operandText);
  const candidates = [path];
  if (feed === 'node') {
    const main = await readFile(join(path, 'package.json'), 'utf8').then(
      (text) => (JSON.parse(text) as { main?: unknown }).main,
      () => undefined,
    );
    candidates.push(`${path}.js`, `${path}.json`, `${path}.node`);
    if (typeof main === 'string') candidates.push(join(path, main), `${join(path, main)}.js`, join(path, main, 'index.js'));
    candidates.push(join(path, 'index.js'));
  }
  for (const candidate of candidates) if (await isFile(candidate)) return realpath(candidate);
  if (path.startsWith('/dev/')) return undefined;
  if (feed === 'shell' && !operandText.includes('/')) {
    const found = await find(operandText).catch(() => undefined);
    if (found !== undefined) return found.realPath;
  }
  throw new Error(`there is no script ${operandText} in ${dirname(path)}`);
}

/** Returns the files of a folder that a module name refers to, as in `python3 -m report`. */
async function findModules(args: readonly string[], dir: string): Promise<string[]> {
  const names = args.flatMap((arg, at) => (/^-[A-Za-z]*m$/.test(arg) ? (args[at + 1] ?? []) : (/^-m(.+)/.exec(arg)?.[1] ?? [])));
  const paths = names.flatMap((name) => {
    const path = join(dir, ...name.split('.'));
    return [`${path}.py`, join(path, '__main__.py'), join(path, '__init__.py')];
  });
  const exists = await Promise.all(paths.map(isFile));
  return paths.filter((_, index) => exists[index]);
}
