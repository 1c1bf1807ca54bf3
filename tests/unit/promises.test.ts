import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requirements } from '../requirements.ts';

const root = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const rows = read('docs/promises.md')
  .split('\n')
  .filter((line) => /^\| (?!---|Threat|Fault)/.test(line));

test('every promise has a proof, and all proofs exist', () => {
  const requirementIds = new Set(requirements.map(({ id }) => id));
  const sections = new Set([...read('tests/bench/run-benchmarks.ts').matchAll(/^ {2}'?([a-z-]+)'?[,:]/gm)].map(([, name]) => name));
  const wrong = rows.flatMap((row) => {
    const proof = row.split(' | ').at(-1) ?? '';
    const ids = [...proof.matchAll(/`([a-z][\w.-]*\/[\w-]+)`/g)].map(([, id]) => id ?? '');
    const benchmarks = [...proof.matchAll(/benchmark `([\w-]+)`/g)].map(([, name]) => name ?? '');
    return [
      ...(ids.length + benchmarks.length === 0 ? [`no proof: ${row}`] : []),
      ...ids.filter((id) => !requirementIds.has(id)),
      ...benchmarks.filter((name) => !sections.has(name)),
    ];
  });
  expect(rows.length).toBeGreaterThan(30);
  expect(wrong).toEqual([]);
});
