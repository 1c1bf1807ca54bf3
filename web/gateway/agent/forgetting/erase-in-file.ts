import { DREAMS_FILE } from '../../knowledge/dreaming/signal-sources.ts';
import { toMemoryId } from '../../knowledge/memory/index/index-entry.ts';
import { LONG_TERM_FILE, NOTES_FOLDER, RESULTS_FOLDER } from '../../knowledge/memory/layout.ts';
import { parseMemories, removeBlock } from '../../knowledge/memory/long-term.ts';
import { splitSummary } from '../../knowledge/memory/summary/day-summary.ts';
import { CLAIMS_DIR } from '../../knowledge/wiki/wiki-vault.ts';
import type { ForgetKind, ForgetReason } from '#shared/rpc/methods/forgetting-contracts.ts';
import { parseJsonRecord } from './parse-json-record.ts';
import { WIKI_FOLDER } from '../knowledge/wiki/page-label.ts';
import { containsText, eraseLines, eraseTexts } from './erase-values.ts';
import type { EraseDecision } from './forget-pieces.ts';

const CLAIMS_PREFIX = `${WIKI_FOLDER}/${CLAIMS_DIR}/`;
const DREAMS_FOLDER = '.dreams/';

interface EraseFileOptions {
  matches(text: string): boolean;
  erase: EraseDecision;
  /** Why a memory stays unless a person chooses it. */
  getMemoryReason(id: string): ForgetReason | undefined;
}

interface ErasedFile {
  workspace: string;
  path: string;
  content: string;
}

/** A workspace file without its chosen matching pieces; undefined if the whole file goes. */
export function eraseInFile(
  { workspace, path, content }: ErasedFile,
  { matches, erase, getMemoryReason }: EraseFileOptions,
): string | undefined {
  const key = `${workspace}/${path}`;
  const decide = (kind: ForgetKind, text: string, reason?: ForgetReason): boolean =>
    erase({ kind, store: 'files', key, place: path, text, ...(reason === undefined ? {} : { reason }) });
  const kind = getFileKind(path);
  const reason = kind === 'file' ? 'file' : undefined;
  // The name of a page or file says as much as its text.
  if (isNamedByPerson(kind, path) && matches(getName(path)) && decide(kind, path, reason)) return undefined;
  if (path.startsWith(CLAIMS_PREFIX)) return eraseClaim(content, matches, decide);
  if (path.startsWith(DREAMS_FOLDER) && path.endsWith('.jsonl')) return eraseJsonLines(content, matches, decide);
  if (path !== LONG_TERM_FILE && path !== DREAMS_FILE) {
    const { before, summary, after } = splitSummary(content);
    const eraseMatching = (text: string, lineKind: ForgetKind): string =>
      eraseLines(text, (line) => !IS_COMMENT.test(line) && matches(line) && decide(lineKind, line.trim(), reason));
    return eraseMatching(before, kind) + eraseMatching(summary, 'summary') + eraseMatching(after, kind);
  }
  const blocks = parseMemories(content);
  return blocks.reduceRight((text, block) => {
    if (block.kind === 'memory') {
      if (!matches(block.memory.text)) return text;
      const memoryKind = path === DREAMS_FILE ? 'dream' : 'memory';
      return decide(memoryKind, block.memory.text, getMemoryReason(toMemoryId(block.memory.text))) ? removeBlock(text, block) : text;
    }
    return matches(block.text) && decide('note', block.text) ? removeBlock(text, block) : text;
  }, content);
}

function getFileKind(path: string): ForgetKind {
  if (path === LONG_TERM_FILE) return 'memory';
  if (path.startsWith(CLAIMS_PREFIX)) return 'claim';
  if (path.startsWith(`${WIKI_FOLDER}/`)) return 'page';
  if (path.startsWith(DREAMS_FOLDER) || path === DREAMS_FILE) return 'dream';
  if (path.startsWith(`${NOTES_FOLDER}/`)) return 'note';
  return path.startsWith(`${RESULTS_FOLDER}/`) ? 'context' : 'file';
}

/** A line that only programs read, such as the marks around a summary. */
const IS_COMMENT = /^\s*<!--.*-->\s*$/;

const getName = (path: string): string => path.replace(/^.*\//, '').replace(/\.[^.]*$/, '');
/** Other files have names that Perch gives them. */
const isNamedByPerson = (kind: ForgetKind, path: string): boolean =>
  (kind === 'page' && path !== `${WIKI_FOLDER}/index.md`) || kind === 'file';

type Decide = (kind: ForgetKind, text: string) => boolean;

/** A claim goes with its whole history. */
function eraseClaim(content: string, matches: (text: string) => boolean, decide: Decide): string | undefined {
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  const records = lines.map(parseJsonRecord);
  if (!records.some((record, index) => (record ? containsText(record, matches) : matches(lines[index] ?? '')))) return content;
  const newest = records.findLast((record) => record !== undefined);
  const claim = newest?.['claim'];
  const text = typeof claim === 'object' && claim !== null && 'text' in claim ? String(claim.text) : (lines.at(-1) ?? '');
  return decide('claim', text) ? undefined : content;
}

/** Members whose texts are what a line of dreaming is about; others, such as queries, are taken out of the line. */
const SUBJECT_MEMBERS = ['content', 'text', 'source_ref'];

function eraseJsonLines(content: string, matches: (text: string) => boolean, decide: Decide): string {
  return content
    .split(/(?<=\n)/)
    .map((line) => {
      const record = parseJsonRecord(line);
      if (!record) return matches(line) && decide('dream', line.trim()) ? '' : line;
      if (!containsText(record, matches)) return line;
      const subject = SUBJECT_MEMBERS.flatMap((name) => (typeof record[name] === 'string' ? [record[name]] : []));
      if (!decide('dream', subject[0] ?? line.trim().slice(0, 200))) return line;
      if (subject.some(matches)) return '';
      return `${JSON.stringify(eraseTexts(record, matches))}\n`;
    })
    .join('');
}
