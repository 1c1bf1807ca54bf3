// Compiles the app's messages, `web/**/messages/**/<locale>.json`, to modules in `.cache/messages`.
import { createHash } from 'node:crypto';
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Plugin } from 'vite';

/**
 * A message of a locale file: plain text, or one text for each plural form. Texts hold `{input}`; `\{`, `\}` and `\\` are literal.
 * This is the subset of inlang's message format that Perch uses.
 */
export type Message = string | readonly [{ declarations: readonly string[]; match: Readonly<Record<string, string>> }];
export type Messages = Readonly<Record<string, Message>>;
/** Messages of a folder by their locale. */
type Area = ReadonlyMap<string, Messages>;

const ROOT = join(import.meta.dirname, '..');
const MESSAGE_FILES = 'web/{app,features,kit}/**/messages/**/*.json';
const OUTPUT_DIR = join(ROOT, '.cache/messages');
const STAMP_FILE = 'compiled';

/** Name of the area whose messages are in a folder: `features/chat/messages/reply` is `chat-reply`. */
export const toAreaName = (folder: string): string =>
  folder
    .split(/[\\/]/)
    .filter((part) => !['web', 'features', 'messages'].includes(part))
    .join('-');

interface Declarations {
  inputs: ReadonlySet<string>;
  /** JavaScript for each local variable. */
  locals: ReadonlyMap<string, string>;
}

/** Reads lines such as `input count` and `local n = count: plural type=ordinal`. */
function parseDeclarations(lines: readonly string[], locale: string): Declarations {
  const inputs = new Set<string>();
  const locals = new Map<string, string>();
  for (const line of lines) {
    const [, input] = /^input (\w+)$/.exec(line) ?? [];
    if (input !== undefined) {
      inputs.add(input);
      continue;
    }
    const [, name, source, format, options] = /^local (\w+) = (\w+): (plural|number)((?: \w+=\w+)*)$/.exec(line) ?? [];
    if (name === undefined || source === undefined || !inputs.has(source)) throw new Error(`unknown declaration "${line}"`);
    const pairs = (options ?? '').split(' ').flatMap((option) => (option === '' ? [] : [option.split('=')]));
    const rest = pairs.length === 0 ? '' : `, ${JSON.stringify(Object.fromEntries(pairs))}`;
    locals.set(name, `${format}("${locale}", i.${source}${rest})`);
  }
  return { inputs, locals };
}

/** Splits a text into literals (even places) and the names of inputs between them (odd places). */
function parseText(text: string): string[] {
  const pieces = [''];
  for (const [token, escaped, name] of text.matchAll(/\\([{}\\])|\{(\w+)\}|[^]/g)) {
    if (name !== undefined) pieces.push(name, '');
    else if (token === '{') throw new Error(`"${text}" has a { that is neither a name in braces nor escaped`);
    else pieces[pieces.length - 1] += escaped ?? token;
  }
  return pieces;
}

const toInputExpression = (name: string): string => `i.${name}`;

function compileText(text: string, { locals }: Declarations): string {
  const code = parseText(text).map((piece, at) =>
    at % 2 === 1 ? `\${${locals.has(piece) ? piece : toInputExpression(piece)}}` : piece.replaceAll(/[\\`]|\$(?=\{)/g, '\\$&'),
  );
  return `\`${code.join('')}\``;
}

/** JavaScript for `n=one, count=1`; undefined if it always holds. */
function compileCondition(match: string, { inputs, locals }: Declarations): string | undefined {
  const tests = match.split(',').flatMap((part) => {
    const [, name = '', value = ''] = /^\s*(\w+)\s*=\s*(\*|\w+)\s*$/.exec(part) ?? [];
    if (locals.has(name)) return value === '*' ? [] : [`${name} === ${JSON.stringify(value)}`];
    if (!inputs.has(name)) throw new Error(`unknown condition "${match}"`);
    return value === '*' ? [] : [`String(${toInputExpression(name)}) === ${JSON.stringify(value)}`];
  });
  return tests.length === 0 ? undefined : tests.join(' && ');
}

/** The names in braces of a message without declarations. */
const getInputs = (text: string): Set<string> => new Set(parseText(text).filter((_piece, at) => at % 2 === 1));

function compileMessage(key: string, message: Message, locale: string): string {
  if (typeof message === 'string') {
    const inputs = getInputs(message);
    return `${inputs.size > 0 ? '(i)' : '()'} => ${compileText(message, { inputs, locals: new Map() })}`;
  }
  const [{ declarations, match }] = message;
  const names = parseDeclarations(declarations, locale);
  const returns = Object.entries(match).map(([when, text]) => ({ test: compileCondition(when, names), code: compileText(text, names) }));
  const lines = returns.map(({ test, code }) => `${test === undefined ? '' : `if (${test}) `}return ${code};`);
  const body = [...lines, ...(returns.some(({ test }) => test === undefined) ? [] : [`return ${JSON.stringify(key)};`])].join('\n');
  const used = [...names.locals].filter(([name]) => new RegExp(`\\$\\{${name}\\}|\\b${name} ===`).test(body));
  return `(i) => {\n${[...used.map(([name, code]) => `const ${name} = ${code};`), body].join('\n')}\n}`;
}

/** Runs a compilation of one message, and names the message in its error. */
function withKeyInError<T>(key: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw new Error(`message ${key}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/** The messages of an area in the order of the English ones. A message that the locale lacks is said in English. */
const compileAll = (messages: Messages, english: Messages, locale: string): [key: string, code: string][] =>
  Object.entries(english).map(([key, fallback]) => {
    const own = messages[key];
    return [key, withKeyInError(key, () => (own === undefined ? compileMessage(key, fallback, 'en') : compileMessage(key, own, locale)))];
  });

const RUNTIME_IMPORT = "import { number, plural, registerArea } from '../../../web/app/i18n/message-areas.ts';\n";

/** The module of an area's English messages: an export for each, which the messages of another language replace. */
export function compileEnglish(area: string, english: Messages): string {
  const keys = Object.keys(english).join(', ');
  const functions = compileAll(english, english, 'en').map(([key, code]) => `  ${key} = ${code}`);
  return `${RUNTIME_IMPORT}export let\n${functions.join(',\n')};\nregisterArea(${JSON.stringify(area)}, (own) => { [${keys}] = own; });\n`;
}

/** The module of an area in another language: an array of its messages. */
export function compileLocale(locale: string, messages: Messages, english: Messages): string {
  const functions = compileAll(messages, english, locale).map(([, code]) => `  ${code},\n`);
  return `${RUNTIME_IMPORT}export default [\n${functions.join('')}];\n`;
}

/** Type declarations of the module of English messages. */
export function declareMessages(english: Messages): string {
  const lines = Object.entries(english).map(([key, message]) => {
    const inputs = withKeyInError(key, () =>
      typeof message === 'string' ? getInputs(message) : parseDeclarations(message[0].declarations, 'en').inputs,
    );
    const type = [...inputs].map((name) => `readonly ${name}: string | number`).join('; ');
    return `export declare let ${key}: (${type === '' ? '' : `inputs: { ${type} }`}) => string;\n`;
  });
  return lines.join('');
}

/** The areas by their name. */
function readAreas(files: readonly string[]): Map<string, Area> {
  const areas = new Map<string, Map<string, Messages>>();
  for (const file of files) {
    const name = toAreaName(dirname(file));
    const area = areas.get(name) ?? new Map<string, Messages>();
    areas.set(name, area.set(basename(file, '.json'), JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as Messages));
  }
  return areas;
}

/** The generated files, by their path in `.cache/messages`. */
function compileAreas(areas: ReadonlyMap<string, Area>): Map<string, string> {
  // A chunk leaves out the areas that it does not use.
  const files = new Map([['package.json', '{ "type": "module", "sideEffects": false }\n']]);
  const loaders = new Map<string, string>();
  for (const [area, locales] of areas) {
    const english = locales.get('en') ?? {};
    files.set(`${area}/en.js`, compileEnglish(area, english)).set(`${area}/en.d.ts`, declareMessages(english));
    for (const [locale, messages] of locales) {
      if (locale === 'en') continue;
      files.set(`${area}/${locale}.js`, compileLocale(locale, messages, english));
      loaders.set(locale, `${loaders.get(locale) ?? ''}  ${JSON.stringify(area)}: () => import('../${area}/${locale}.js'),\n`);
    }
  }
  const index = [...areas.keys()].map((area) => `export * from './${area}/en.js';\n`).join('');
  files.set('index.js', index).set('index.d.ts', index);
  for (const [locale, code] of loaders)
    files
      .set(`locales/${locale}.js`, `const areas = {\n${code}};\nexport default (area) => areas[area]();\n`)
      .set(
        `locales/${locale}.d.ts`,
        "declare const loadArea: (area: string) => Promise<{ default: import('../../../web/app/i18n/message-areas.ts').AreaMessages }>;\nexport default loadArea;\n",
      );
  return files;
}

/** Writes a file whole or not at all: a test runner and a build may compile at the same time. */
function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${String(process.pid)}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/** Compiles the messages if they have changed. */
export function compileMessages(): void {
  const sources = globSync(MESSAGE_FILES, { cwd: ROOT }).sort();
  const hash = createHash('sha256').update(readFileSync(import.meta.filename));
  for (const file of sources) hash.update(file).update(readFileSync(join(ROOT, file)));
  const current = hash.digest('hex');
  const stamp = join(OUTPUT_DIR, STAMP_FILE);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return;
  const files = compileAreas(readAreas(sources));
  for (const [path, text] of files) writeAtomically(join(OUTPUT_DIR, path), text);
  for (const entry of readdirSync(OUTPUT_DIR, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !files.has(path.slice(OUTPUT_DIR.length + 1)) && !/\.tmp$/.test(path) && path !== stamp)
      rmSync(path, { force: true });
  }
  writeAtomically(stamp, current);
}

/** Compiles again while the development server runs, and shows it. */
export function watchMessages(): Plugin {
  return {
    name: 'perch-messages',
    apply: 'serve',
    hotUpdate({ file, server }) {
      if (!/[\\/]messages[\\/].*\.json$/.test(file)) return;
      compileMessages();
      server.ws.send({ type: 'full-reload' });
    },
  };
}
