import { MarkdownBlockSplitter, type CodeText } from '#lib/markdown/markdown-blocks.ts';

export type ArtifactKind = 'html' | 'svg';

/** Something that answers of a chat made, with what became of it (docs/decisions/0057). */
export interface Artifact {
  /** The same for all versions of it. */
  id: string;
  kind: ArtifactKind;
  /** A file name or title, if any was given. */
  name: string | null;
  /** Oldest first; never the same twice in a row. */
  versions: string[];
}

/** An answer's text; `growing`: its last block may still change. */
export interface ReplyText {
  text: string;
  growing: boolean;
}

const LANGUAGES = new Map<string, ArtifactKind>([
  ['html', 'html'],
  ['htm', 'html'],
  ['xhtml', 'html'],
  ['svg', 'svg'],
]);
const SVG_START = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype svg[^>]*>\s*)?<svg[\s>]/i;
const HTML_START = /^\s*(?:<!doctype html[\s>]|<html[\s>])/i;

/** Kind of artifact of a code block; null if none. Without a language, the code's start decides. */
export function getArtifactKind({ language, code }: Pick<CodeText, 'language' | 'code'>): ArtifactKind | null {
  const declared = language.toLowerCase();
  if (SVG_START.test(code) && (declared === '' || declared === 'xml' || declared === 'html')) return 'svg';
  return LANGUAGES.get(declared) ?? (declared === '' && HTML_START.test(code) ? 'html' : null);
}

const findTitle = (code: string): string | null =>
  /<title[^>]*>([^<]{1,200})<\/title>/i.exec(code)?.[1]?.replace(/\s+/g, ' ').trim() || null;

/** Finds artifacts in the answers of one chat. Texts that it has read are not read again. */
export class ArtifactReader {
  #read = new Map<string, readonly CodeText[]>();

  /** In the order of their first versions. */
  findArtifacts(answers: readonly ReplyText[]): Artifact[] {
    const read = new Map<string, readonly CodeText[]>();
    const found = new Map<string, Artifact>();
    for (const { text, growing } of answers) {
      let blocks = this.#read.get(text);
      blocks ??= text.includes('```') || text.includes('~~~') ? extractCodeBlocks(text, growing) : [];
      if (!growing) read.set(text, blocks);
      const unnamedCounts = new Map<ArtifactKind, number>();
      for (const block of blocks) {
        const kind = getArtifactKind(block);
        if (kind === null) continue;
        const name = block.name ?? findTitle(block.code);
        const nth = unnamedCounts.get(kind) ?? 0;
        if (name === null) unnamedCounts.set(kind, nth + 1);
        addVersion(found, { id: `${kind} ${name ?? `#${nth}`}`, kind, name, versions: [block.code] });
      }
    }
    this.#read = read;
    return [...found.values()];
  }
}

function extractCodeBlocks(text: string, growing: boolean): readonly CodeText[] {
  const blocks = new MarkdownBlockSplitter().update(text);
  return (growing ? blocks.slice(0, -1) : blocks).filter((block) => block.kind === 'code');
}

function addVersion(found: Map<string, Artifact>, next: Artifact): void {
  const known = found.get(next.id);
  if (!known) found.set(next.id, next);
  else if (known.versions.at(-1) !== next.versions[0]) known.versions.push(...next.versions);
}
