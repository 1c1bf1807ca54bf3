import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const webDir = join(import.meta.dirname, '../..');
const appDir = join(webDir, 'routes/(app)');
const LIB = '#lib/';

/** Static imports of a file from the app itself, without types. */
function getImports(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'"();]*?\sfrom\s+)?'((?:#lib\/|\.\.?\/)[^'?]+)/gm,
  );
  return [...imports].map(([, to = '']) => (to.startsWith(LIB) ? join(webDir, 'lib', to.slice(LIB.length)) : join(dirname(file), to)));
}

it.each(['later', 'pages'])('the frame and an empty chat do not ask for the words of %s at once', (part) => {
  const chat = readdirSync(join(appDir, '(chat)'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(svelte|ts)$/.test(name));
  const from = [...['+layout.svelte', '+layout.ts'].map((name) => join(appDir, name)), ...chat.map((name) => join(appDir, '(chat)', name))];
  const by = new Map<string, string | null>(from.map((file) => [file, null]));
  for (const [file] of by)
    for (const to of getImports(file)) if (!by.has(to) && /\.(svelte|ts)$/.test(to) && existsSync(to)) by.set(to, file);
  expect(by.size).toBeGreaterThan(100);
  const way: string[] = [];
  const messagesFile = join(webDir, `lib/i18n/${part}.ts`);
  for (let at = by.has(messagesFile) ? messagesFile : null; at; at = by.get(at) ?? null) way.push(at.slice(webDir.length + 1));
  expect(way).toEqual([]);
});
