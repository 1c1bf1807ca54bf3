import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { citesOutside, type Comment, findComments, opensWithPronoun } from './comments.ts';
import { findCommonFileNames, isParticiple, isPossessive, parseExports } from './names.ts';

/** A measure of names and comments. It may only fall; its `limit` follows it. */
interface Measure {
  title: string;
  value: number;
  limit: number;
  /** Places that count, for a person who wants to reword them. */
  places: string[];
}

const toPlaces = (comments: readonly Comment[]): string[] =>
  comments.map(({ file, line, text }) => `${file}:${String(line)}: ${text.slice(0, 100)}`);

/** Measures of the code under `root`, for `npm run check:language`. */
export function measureCode(root: string): Measure[] {
  const files = globSync('{bridge,shared,web,tests,docs}/**/*.{ts,svelte}', {
    cwd: root,
    exclude: (path) => /(?:^|\/)node_modules$/.test(path),
  });
  const exported = files
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => parseExports(file, readFileSync(join(root, file), 'utf8')));
  const comments = findComments(root);
  const [possessive, participles] = [exported.filter(isPossessive), exported.filter(isParticiple)];
  const [pronouns, citations, names] = [comments.filter(opensWithPronoun), comments.filter(citesOutside), findCommonFileNames(files)];
  const toNames = (list: typeof exported): string[] => list.map(({ file, line, name }) => `${file}:${String(line)}: ${name}`);
  return [
    { title: 'exported names such as `statusOf`', value: possessive.length, limit: 5, places: toNames(possessive) },
    { title: 'exported types named by a participle', value: participles.length, limit: 0, places: toNames(participles) },
    { title: 'file names used in more than three folders', value: names.length, limit: 0, places: names.map(([name]) => name) },
    { title: 'comments that cite documents outside the repository', value: citations.length, limit: 0, places: toPlaces(citations) },
    {
      title: '‰ of comments that open with a pronoun clause',
      value: Math.round((1000 * pronouns.length) / comments.length),
      limit: 10,
      places: toPlaces(pronouns),
    },
  ];
}
