import { gateway } from '#app/connection/gateway-connection.svelte.ts';
import { findPicture, WIKI_FOLDER } from './find-picture.ts';

/** Maximum size of a picture, and of all pictures of a page. */
const MAX_PICTURE_BYTES = 8 * 1024 * 1024;
const MAX_PAGE_BYTES = 32 * 1024 * 1024;

/** Loads the pictures of a wiki page as data URLs, by the names in its text. */
export async function loadPictures(agentId: string, from: string, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { workspace } = await gateway.call('wiki.stats', { agentId });
  const { files } = await gateway.call('workspace.list', { workspace, under: WIKI_FOLDER });
  const urls = new Map<string, string>();
  let remainingBytes = MAX_PAGE_BYTES;
  for (const name of names) {
    const file = findPicture(files, from, name);
    if (!file || file.size > Math.min(MAX_PICTURE_BYTES, remainingBytes)) continue;
    remainingBytes -= file.size;
    const { content, encoding } = await gateway.call('workspace.read', { workspace, path: file.path });
    if (encoding === 'base64') urls.set(name, `data:${file.mimeType};base64,${content}`);
  }
  return urls;
}
