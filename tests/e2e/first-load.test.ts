import { readdirSync, readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { startPerch } from './perch-process.ts';

const APP = join(import.meta.dirname, '../../dist/app');
const IMMUTABLE_DIR = '_app/immutable';
/** Code beyond it has to be removed or loaded later. Builds of the same source differ by some 150 bytes. */
const MAX_BYTES = 230 * 1024;

const readBuilt = (file: string): string => readFileSync(join(APP, file), 'utf8');
const findScript = (folder: string, start: string): string => {
  const found = readdirSync(join(APP, IMMUTABLE_DIR, folder)).filter((name) => name.startsWith(start) && name.endsWith('.js'));
  if (found.length !== 1) throw new Error(`one ${folder}/${start}*.js is expected: ${found.join(', ')}`);
  return `${IMMUTABLE_DIR}/${folder}/${found.join('')}`;
};

/** The files and all their static imports. */
function withImports(files: readonly string[]): string[] {
  const all = new Set(files);
  for (const file of all)
    for (const [, to = ''] of readBuilt(file).matchAll(/(?:\bfrom|\bimport)\s*["'`](\.{1,2}\/[^"'`]+\.js)["'`]/g))
      all.add(join(file, '..', to));
  return [...all];
}

/** Scripts of a first visit to a new chat: those that the page names, and the nodes of its route. */
function pageScripts(): string[] {
  const fromPage = [...readBuilt('index.html').matchAll(/<(?:link href|script src)="\/([^"]+\.js)"/g)].map(([, file = '']) => file);
  const [, leaf, layouts = ''] = /"\/\(app\)\/\(chat\)":\[(\d+),\[([\d,]+)\]/.exec(readBuilt(findScript('entry', 'app.'))) ?? [];
  if (leaf === undefined) throw new Error('the chat has no route');
  return withImports([...fromPage, ...[leaf, ...layouts.split(',')].map((node) => findScript('nodes', `${node}.`))]);
}

/** The script of the gateway's worker. */
function workerScripts(): string[] {
  const workers = readdirSync(join(APP, IMMUTABLE_DIR, 'workers')).filter((name) => name.endsWith('.js'));
  const found = workers
    .map((name) => withImports([`${IMMUTABLE_DIR}/workers/${name}`]))
    .filter((files) => files.some((file) => readBuilt(file).includes('chat.send')));
  if (found.length !== 1) throw new Error(`one worker is expected to serve chats, and there are ${found.length}`);
  return found.flat();
}

/** Head and body of an answer to a browser that takes Brotli. */
const measureResponseBytes = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'br' } }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${url}: ${response.statusCode}`));
      const head = response.rawHeaders.reduce((sum, text) => sum + text.length + 2, 'HTTP/1.1 200 OK\r\n\r\n'.length);
      let body = 0;
      response.on('data', (part: Buffer) => (body += part.length)).on('end', () => resolve(head + body));
    }).on('error', reject);
  });

verifies('app/first-load', 'the scripts that a first visit loads before somebody can write are few enough', async () => {
  await using perch = await startPerch();
  const sizes = await Promise.all(
    [...pageScripts(), ...workerScripts()].map(async (file): Promise<[string, number]> => [
      file,
      await measureResponseBytes(`${perch.url}/${file}`),
    ]),
  );
  expect(sizes.length).toBeGreaterThan(10);
  const all = sizes.reduce((sum, [, bytes]) => sum + bytes, 0);
  const list = sizes.sort(([, a], [, b]) => b - a).map(([file, bytes]) => `${String(bytes).padStart(7)} ${file}`);
  expect(all, `${all} bytes:\n${list.join('\n')}`).toBeLessThanOrEqual(MAX_BYTES);
});
