import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getCheckTitle } from './check-titles.ts';

const CHECKS = join(import.meta.dirname, '../../gateway/server/doctor');

/** Every check in the gateway's source, where `id` and `title` are next to each other. */
const checks = readdirSync(CHECKS).flatMap((file) =>
  [...readFileSync(join(CHECKS, file), 'utf8').matchAll(/\bid: ['`]([\w-]+)(?::\$\{\w+\})?['`],\s*title: ['`]([^'`]+)['`]/g)].map(
    ([, kind = '', title = '']) => ({ kind, title: title.replace(/\$\{\w+\}/, 'ana') }),
  ),
);

test('every check of the gateway has a title in the app’s words, which in English is the gateway’s', () => {
  expect(checks.length).toBeGreaterThan(40);
  const own = checks.map(({ kind }) => getCheckTitle({ id: `${kind}:1`, title: 'not known' }, () => 'ana').replace(/1$/, 'ana'));
  expect(own).toEqual(checks.map(({ title }) => title));
});

test('a check that is not known keeps the gateway’s title', () => {
  expect(getCheckTitle({ id: 'constructor', title: 'New' }, String)).toBe('New');
});
