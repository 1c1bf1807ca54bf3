import type { Collection, CollectionDocument } from '#shared/rpc/methods/collection-contracts.ts';
import type { CollectionSource } from '#shared/rpc/collection-source.ts';
import { formatBytes } from '#app/files/attachment-limits.ts';
import { formatList } from '#app/i18n/format.ts';
import { m } from '#app/i18n/messages.ts';

/** Number and size of the documents: `42 documents · 3.1 MB`. */
export const describeSize = ({ documentCount, size }: Pick<Collection, 'documentCount' | 'size'>): string =>
  [m.collections_document_count({ count: documentCount }), ...(size > 0 ? [formatBytes(size)] : [])].join(' · ');

/** Extension of a document's path in capitals, or the end of its MIME type: `PDF`. */
export function describeKind({ path, mimeType, url }: Pick<CollectionDocument, 'path' | 'mimeType' | 'url'>): string {
  const extension = /\.([a-z\d]{1,5})$/i.exec(url === null ? path : (URL.parse(url)?.pathname ?? ''))?.[1];
  if (extension !== undefined) return extension.toUpperCase();
  return (/^[^/]+\/(?:x-)?([\w-]+)/.exec(mimeType)?.[1] ?? '').toUpperCase();
}

/** Path or address of a source. */
export function describeSource(source: CollectionSource): string {
  if (source.kind === 'web') return formatList(source.urls);
  return source.kind === 'repository' ? source.url : source.path;
}
