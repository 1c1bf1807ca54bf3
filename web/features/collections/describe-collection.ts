import type { Collection, CollectionDocument, CollectionSource } from '#shared/rpc/methods/collection-contracts.ts';
import type { PassageLocator } from '#shared/rpc/passage.ts';
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

/** Where a source is: its path or address. */
export function describeSource(source: CollectionSource): string {
  if (source.kind === 'web') return formatList(source.urls);
  return source.kind === 'repository' ? source.url : source.path;
}

/** Where a passage is in its document: `Page 3 · Methods`. Empty if it has no place but its offset. */
export function describeLocator({ page, sheet, headings = [], line, time }: PassageLocator): string {
  return [
    ...(page === undefined ? [] : [m.collections_at_page({ page })]),
    ...(sheet === undefined ? [] : [sheet]),
    ...(headings.length === 0 ? [] : [headings.join(' › ')]),
    ...(line === undefined || page !== undefined ? [] : [m.collections_at_line({ line })]),
    ...(time === undefined ? [] : [formatTime(time)]),
  ].join(' · ');
}

function formatTime(seconds: number): string {
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, Math.floor(seconds) % 60];
  const parts = [...(hours > 0 ? [String(hours), String(minutes).padStart(2, '0')] : [String(minutes)]), String(rest).padStart(2, '0')];
  return parts.join(':');
}
