import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';

const webDir = join(import.meta.dirname, '../..');
const appDir = join(webDir, 'routes/(app)');
const ALIAS = /^#(?=(?:app|features|kit|canvas)\/)/;

/** Static imports of a file from the app itself, without types. */
function getImports(file: string): string[] {
  const imports = readFileSync(file, 'utf8').matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'"();]*?\sfrom\s+)?'((?:#(?:app|features|kit|canvas)\/|\.\.?\/)[^'?]+)/gm,
  );
  return [...imports].map(([, to = '']) => (ALIAS.test(to) ? join(webDir, to.replace(ALIAS, '')) : join(dirname(file), to)));
}

it.each(['chat-messages', 'page-messages'])('the frame and an empty chat do not import %s at once', (part) => {
  const chat = readdirSync(join(appDir, '(chat)'), { recursive: true, encoding: 'utf8' }).filter((name) => /\.(svelte|ts)$/.test(name));
  const from = [...['+layout.svelte', '+layout.ts'].map((name) => join(appDir, name)), ...chat.map((name) => join(appDir, '(chat)', name))];
  const by = new Map<string, string | null>(from.map((file) => [file, null]));
  for (const [file] of by)
    for (const to of getImports(file)) if (!by.has(to) && /\.(svelte|ts)$/.test(to) && existsSync(to)) by.set(to, file);
  expect(by.size).toBeGreaterThan(100);
  const way: string[] = [];
  const messagesFile = join(webDir, `app/i18n/${part}.ts`);
  for (let at = by.has(messagesFile) ? messagesFile : null; at; at = by.get(at) ?? null) way.push(at.slice(webDir.length + 1));
  expect(way).toEqual([]);
});
