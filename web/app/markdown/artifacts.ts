import { MarkdownBlockSplitter, type CodeText } from './markdown-blocks.ts';

export type ArtifactKind = 'html' | 'svg';

/** A document created by replies of a chat, with its versions (docs/decisions/0057). */
export interface Artifact {
  /** The same for all versions of it. */
  id: string;
  kind: ArtifactKind;
  /** A file name or title, if any was given. */
  name: string | null;
  /** Oldest first; never the same twice in a row. */
  versions: string[];
}

/** Text of a reply; `growing`: its last block may still change. */
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

/** Finds artifacts in the replies of a chat. Parsed texts are cached. */
export class ArtifactReader {
  #blocksByText = new Map<string, readonly CodeText[]>();

  /** Returns artifacts in the order of their first versions. */
  findArtifacts(replies: readonly ReplyText[]): Artifact[] {
    const blocksByText = new Map<string, readonly CodeText[]>();
    const artifacts = new Map<string, Artifact>();
    for (const { text, growing } of replies) {
      let blocks = this.#blocksByText.get(text);
      blocks ??= text.includes('```') || text.includes('~~~') ? extractCodeBlocks(text, growing) : [];
      if (!growing) blocksByText.set(text, blocks);
      const unnamedCounts = new Map<ArtifactKind, number>();
      for (const block of blocks) {
        const kind = getArtifactKind(block);
        if (kind === null) continue;
        const name = block.name ?? findTitle(block.code);
        const index = unnamedCounts.get(kind) ?? 0;
        if (name === null) unnamedCounts.set(kind, index + 1);
        addVersion(artifacts, { id: `${kind} ${name ?? `#${index}`}`, kind, name, versions: [block.code] });
      }
    }
    this.#blocksByText = blocksByText;
    return [...artifacts.values()];
  }
}

function extractCodeBlocks(text: string, growing: boolean): readonly CodeText[] {
  const blocks = new MarkdownBlockSplitter().update(text);
  return (growing ? blocks.slice(0, -1) : blocks).filter((block) => block.kind === 'code');
}

function addVersion(artifacts: Map<string, Artifact>, artifact: Artifact): void {
  const existing = artifacts.get(artifact.id);
  if (!existing) artifacts.set(artifact.id, artifact);
  else if (existing.versions.at(-1) !== artifact.versions[0]) existing.versions.push(...artifact.versions);
}
