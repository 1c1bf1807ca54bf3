// `npm run check:language [-- --list]`: finds phrases of the old private English in the app's messages, the code's strings and the documents, and measures names
// and comments; `--list` prints each place that counts.
import { join } from 'node:path';
import { measureCode } from './measures.ts';
import { EXCEPTIONS, type Exception, type Rule, RULES } from './rules.ts';
import { findMessages, findProse, findStrings, type ReadableText } from './texts.ts';

interface PhraseFinding extends ReadableText {
  /** The words that the rule matched. */
  phrase: string;
  instead: string;
}

export function findPhrases(texts: readonly ReadableText[], rules: readonly Rule[], exceptions: readonly Exception[]): PhraseFinding[] {
  return texts.flatMap((text) =>
    rules.flatMap(({ pattern, instead, only }) => {
      if (only !== undefined && !only.includes(text.kind)) return [];
      const phrase = pattern.exec(text.text)?.[0];
      if (phrase === undefined || exceptions.some((exception) => text.text.includes(exception.text))) return [];
      return [{ ...text, phrase, instead }];
    }),
  );
}

/** Exceptions that no text needs any more. */
export function findUnused(texts: readonly ReadableText[], rules: readonly Rule[], exceptions: readonly Exception[]): Exception[] {
  const matched = new Set(findPhrases(texts, rules, []).map(({ text }) => text));
  return exceptions.filter(({ text }) => ![...matched].some((each) => each.includes(text)));
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '../..');
  const texts = [...findMessages(root), ...findStrings(root), ...findProse(root)];
  const findings = findPhrases(texts, RULES, EXCEPTIONS);
  for (const { file, line, text, phrase, instead } of findings)
    console.log(`${file}:${String(line)}: "${phrase.slice(0, 80)}" → ${instead}\n    ${text.slice(0, 200).replaceAll('\n', ' ')}`);
  const unused = findUnused(texts, RULES, EXCEPTIONS);
  for (const { text } of unused) console.log(`tests/language/rules.ts: the exception "${text}" is not needed`);
  console.log(`${String(texts.length)} texts, ${String(findings.length)} phrases to reword`);
  const measures = measureCode(root);
  for (const { title, value, limit, places } of measures) {
    if (process.argv.includes('--list')) for (const location of places) console.log(location);
    console.log(`${String(value)} ${title} (limit ${String(limit)})${value > limit ? ': too many' : ''}`);
  }
  if (findings.length + unused.length > 0 || measures.some(({ value, limit }) => value > limit)) process.exitCode = 1;
}
