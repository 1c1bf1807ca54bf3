import { toBase64 } from '../../base64.ts';
import type { WikiPage } from '../../rpc/methods/wiki-records.ts';
import { readBlob } from '../import-files.ts';
import type { GatewayCall } from '../retrying-call.ts';
import { getPictureType } from '../picture-index.ts';
import { findClippedUrl, isSamePage, toPageContent } from './compare-wiki-page.ts';
import type { NotePage, NotePicture } from './note-files.ts';
import { MAX_PICTURE_BYTES } from './read-notes.ts';

/** The folder of a workspace that contains its wiki. */
const WIKI_FOLDER = 'wiki';

/** State of a note in the wiki: no page at its path, a page with the same text, or one with other text. */
export interface PlannedPage extends NotePage {
  state: 'new' | 'same' | 'other';
  /** The existing page, if its text differs. */
  page?: WikiPage;
}

/** Paths of the pages of a wiki, in lower case. */
export async function listKnownPages(call: GatewayCall, agentId: string): Promise<ReadonlySet<string>> {
  return new Set((await call('wiki.pages', { agentId })).pages.map(({ path }) => path.toLowerCase()));
}

/** Compares a note with the wiki; nothing is written. */
export async function planPage(call: GatewayCall, agentId: string, note: NotePage, knownPaths: ReadonlySet<string>): Promise<PlannedPage> {
  if (!knownPaths.has(note.path.toLowerCase())) return { ...note, state: 'new' };
  const { page } = await call('wiki.page', { agentId, path: note.path });
  return isSamePage(page, toPageContent(note.text)) ? { ...note, state: 'same' } : { ...note, state: 'other', page };
}

/** Saves a note as a page, unless the page has changed since it was compared. A page that was clipped from the web counts as content from outside. */
export async function writePage(call: GatewayCall, agentId: string, { path, text, page }: PlannedPage): Promise<WikiPage> {
  const content = toPageContent(text);
  const clippedFrom = findClippedUrl(content);
  const saved = await call('wiki.savePage', {
    agentId,
    path,
    content: content.content,
    ...(content.frontMatter === undefined ? {} : { frontMatter: content.frontMatter }),
    version: page?.version ?? null,
    ...(clippedFrom === undefined ? {} : { outside: [`web:${URL.parse(clippedFrom)?.host ?? clippedFrom}`.slice(0, 200)] }),
  });
  return saved.page;
}

/** A file of a workspace. */
export interface WikiFileName {
  workspace: string;
  path: string;
}

/** Writes the pictures that the wiki does not have yet. */
export class PictureWriter {
  readonly #call: GatewayCall;
  readonly #agentId: string;
  #knownFiles: Promise<{ workspace: string; paths: Set<string> }> | undefined;

  constructor(call: GatewayCall, agentId: string) {
    [this.#call, this.#agentId] = [call, agentId];
  }

  /** Resolves to the written file; undefined if one exists at its path, or if it is not a picture. */
  async add({ path, file }: NotePicture): Promise<WikiFileName | undefined> {
    this.#knownFiles ??= this.#list();
    const { workspace, paths } = await this.#knownFiles;
    const target = `${WIKI_FOLDER}/${path}`;
    if (paths.has(target)) return undefined;
    const bytes = new Uint8Array(await (await readBlob(file, MAX_PICTURE_BYTES)).arrayBuffer());
    const mimeType = getPictureType(bytes) ?? (/\.avif$/i.test(path) ? 'image/avif' : undefined);
    if (mimeType === undefined) return undefined;
    await this.#call('workspace.write', {
      ...{ workspace, path: target, content: toBase64(bytes), encoding: 'base64', mimeType },
    });
    paths.add(target);
    return { workspace, path: target };
  }

  async #list(): Promise<{ workspace: string; paths: Set<string> }> {
    const { workspace } = await this.#call('wiki.stats', { agentId: this.#agentId });
    const { files } = await this.#call('workspace.list', { workspace, under: WIKI_FOLDER });
    return { workspace, paths: new Set(files.map(({ path }) => path)) };
  }
}
