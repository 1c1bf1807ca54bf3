import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { toAreaName } from '../../compile-messages.ts';
import { FIRST_AREAS } from '../../locale-chunks.ts';

const webDir = join(import.meta.dirname, '../..');
const ALIAS = /^#(?=(?:app|features|kit|canvas)\/)/;
const LOADED_WITH_MESSAGES = /(?:withMessages\(|\bload=\{\(\) => )$/;

const read = (file: string): string => readFileSync(join(webDir, file), 'utf8');
const findFiles = (...patterns: string[]): string[] => globSync(patterns, { cwd: webDir }).filter((file) => !/\.test\.ts$/.test(file));
const resolveImport = (file: string, to: string): string => (ALIAS.test(to) ? to.slice(1) : join(dirname(file), to));

/** Area of each message. */
const areas = new Map(
  findFiles('{app,features,kit}/**/messages/**/en.json').flatMap((file) =>
    Object.keys(JSON.parse(read(file)) as object).map((key): [string, string] => [key, toAreaName(dirname(file))]),
  ),
);

/** Static imports of a file from the app itself, without types. */
function getImports(file: string): string[] {
  const imports = read(file).matchAll(
    /^\s*(?:import|export)\s+(?!type\b)(?:[^'"();]*?\sfrom\s+)?'((?:#(?:app|features|kit|canvas)\/|\.\.?\/)[^'?]+)/gm,
  );
  return [...imports].map(([, to = '']) => resolveImport(file, to));
}

/** The files and all their static imports, each with the file that imports it. */
function withImports(files: readonly string[]): Map<string, string | null> {
  const importers = new Map<string, string | null>(files.map((file) => [file, null]));
  for (const [file] of importers)
    for (const to of getImports(file))
      if (!importers.has(to) && /\.(svelte|ts)$/.test(to) && existsSync(join(webDir, to))) importers.set(to, file);
  return importers;
}

/** Messages that code uses which is loaded with the files, other than those of a first visit. */
function findLaterMessages(files: readonly string[]): string[] {
  const importers = withImports(files);
  return [...importers.keys()].flatMap((file) => {
    const keys = [...read(file).matchAll(/\bm\.(\w+)/g)].map(([, key = '']) => key);
    const later = [...new Set(keys)].filter((key) => areas.has(key) && !FIRST_AREAS.includes(areas.get(key) ?? ''));
    const way: string[] = [];
    for (let at: string | null = file; at !== null; at = importers.get(at) ?? null) way.push(at);
    return later.map((key) => `${key} of ${String(areas.get(key))}: ${way.join(' < ')}`);
  });
}

it('the frame and an empty chat use messages of the first areas alone', () => {
  const first = findFiles('routes/(app)/+layout.{svelte,ts}', 'routes/(app)/(chat)/**/*.{svelte,ts}');
  expect(withImports(first).size).toBeGreaterThan(100);
  expect(findLaterMessages(first)).toEqual([]);
});

it('each page loads its messages', () => {
  const pages = findFiles('routes/(app)/**/+page.svelte').filter((file) => !file.includes('(chat)'));
  const loaders = ['routes/(app)', 'routes/(app)/(chat)'].map((folder) => `${folder}/+layout.ts`);
  for (const file of [...pages.map((page) => page.replace('.svelte', '.ts')), ...loaders])
    expect([file, existsSync(join(webDir, file)) && /\bloadMessages\b/.test(read(file))]).toEqual([file, true]);
});

it('code that is imported on demand comes with its messages', () => {
  const found = findFiles('{app,features,kit,routes}/**/*.{ts,svelte}').flatMap((file) => {
    const source = read(file);
    return [...source.matchAll(/(?<!typeof )\bimport\('((?:#(?:app|features|kit|canvas)\/|\.\.?\/)[^']+)'\)/g)].flatMap(
      ({ index, 1: to = '' }) =>
        LOADED_WITH_MESSAGES.test(source.slice(0, index)) || findLaterMessages([resolveImport(file, to)]).length === 0
          ? []
          : [`${file} imports ${to}`],
    );
  });
  expect(found).toEqual([]);
});
