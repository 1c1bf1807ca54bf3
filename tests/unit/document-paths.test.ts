import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { requirements } from '../requirements.ts';

const root = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
const documents = globSync(['*.md', 'docs/**/*.md'], { cwd: root }).sort();

/** Paths of this repository in code spans. Patterns, names in angle brackets and ids of requirements are not paths. */
const isPath = (span: string): boolean => PATH.test(span) && !requirements.some(({ id }) => id === span);
const PATH = /^(?:\.ci|bridge|deploy|docs|public|shared|tests|web)\/[\w./()+-]+$/;

test.each(documents)('%s names only files and scripts that exist', (name) => {
  const text = readFileSync(join(root, name), 'utf8');
  const code = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span]) => span ?? '');
  const links = [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, target]) => join(dirname(name), target ?? ''));
  const missing = [...code.filter(isPath), ...links].filter((path) => !existsSync(join(root, path)));
  const unknown = [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)]
    .map(([, script]) => script ?? '')
    .filter((script) => !(script in scripts));
  expect([...missing, ...unknown]).toEqual([]);
});
