import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vite';
import { compileLocale, declareMessages, type Messages, REGISTRY_SOURCE } from './message-compiler.ts';

/** The app's messages, in three parts: what a visit shows at its start, the rest of the chat, and all other pages. */
const MESSAGE_PARTS = ['frame', 'later', 'pages'];
const SOURCE_DIR = import.meta.dirname;
const OUTPUT_DIR = join(SOURCE_DIR, '../../.cache/words');
const STAMP_FILE = 'compiled';

/** A hash of everything that the modules are made of. */
function computeFingerprint(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(SOURCE_DIR, { recursive: true, encoding: 'utf8' }).sort())
    if (name.endsWith('.json') || /^(message-compiler|compile)\.ts$/.test(name))
      hash.update(name).update(readFileSync(join(SOURCE_DIR, name)));
  return hash.digest('hex');
}

/** The messages of a part by their locale, all areas in one. */
function readMessages(part: string): Map<string, Messages> {
  const locales = new Map<string, Messages>();
  for (const area of readdirSync(join(SOURCE_DIR, part)).sort())
    for (const name of readdirSync(join(SOURCE_DIR, part, area)).sort()) {
      if (!name.endsWith('.json')) continue;
      const locale = name.slice(0, -'.json'.length);
      const messages = JSON.parse(readFileSync(join(SOURCE_DIR, part, area, name), 'utf8')) as Messages;
      locales.set(locale, { ...locales.get(locale), ...messages });
    }
  return locales;
}

/** The generated files of a part, by their path in `.cache/words`. */
function compilePart(part: string): Map<string, string> {
  const locales = readMessages(part);
  const english = locales.get('en') ?? {};
  const files = new Map([[join(part, 'registry.js'), REGISTRY_SOURCE]]);
  for (const [locale, messages] of locales) {
    files.set(join(part, 'messages', `${locale}.js`), compileLocale(locale, messages, english));
    files.set(
      join(part, 'messages', `${locale}.d.ts`),
      locale === 'en' ? declareMessages(english) : "export { default } from './en.js';\n",
    );
  }
  return files;
}

/** Writes a file whole or not at all: a test runner and a build may compile at the same time. */
function writeAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${String(process.pid)}.tmp`;
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}

/** Makes a module of each locale's messages in `.cache/words`, if the messages (`web/words/<part>/<area>/<locale>.json`) have changed. */
export function compileMessages(): void {
  const stamp = join(OUTPUT_DIR, STAMP_FILE);
  const current = computeFingerprint();
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === current) return;
  const files = new Map(MESSAGE_PARTS.flatMap((part) => [...compilePart(part)]));
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
    name: 'perch-words',
    apply: 'serve',
    hotUpdate({ file, server }) {
      if (!file.startsWith(SOURCE_DIR) || !file.endsWith('.json')) return;
      compileMessages();
      server.ws.send({ type: 'full-reload' });
    },
  };
}
