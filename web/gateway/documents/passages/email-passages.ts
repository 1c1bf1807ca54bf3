import PostalMime, { type Address } from 'postal-mime';
import { getPassageKind } from '#shared/document-kinds.ts';
import { createUnreadableError } from '../document-reader.ts';
import { readHtml } from '../html.ts';
import { decodeText } from '../plain-text.ts';
import { addMarkdown } from './markdown-blocks.ts';
import type { DecodedPassageRequest, DocumentFacts, PassageContext } from './passage-context.ts';
import { MAX_DOCUMENT_CHARS } from './passage-builder.ts';

/** Maximum number of attachments that are read. */
const MAX_ATTACHMENTS = 20;
const MAX_ADDRESSES = 50;

/** An e-mail: its header fields, its text, and its attachments, each below its name. */
export async function readEmailPassages({ name, bytes }: DecodedPassageRequest, context: PassageContext): Promise<DocumentFacts> {
  const { builder, signal } = context;
  const mail = await PostalMime.parse(unwrapMbox(bytes), { maxNestingDepth: 50 }).catch((error: unknown) => {
    throw createUnreadableError(name, `can’t be read: it is damaged (${error instanceof Error ? error.message : String(error)})`);
  });
  if (!mail.from && mail.subject === undefined && mail.date === undefined) throw createUnreadableError(name, 'is not an e-mail');
  const subject = mail.subject?.trim() ?? '';
  const fields = [
    ['Subject', subject],
    ['From', mail.from ? formatAddresses([mail.from]) : ''],
    ['To', formatAddresses(mail.to ?? [])],
    ['Cc', formatAddresses(mail.cc ?? [])],
    ['Date', mail.date ?? ''],
  ].flatMap(([label, value]) => (value ? [`${label}: ${value.replaceAll(/\s+/g, ' ')}`] : []));
  builder.add({ text: fields.join('\n'), place: {}, form: 'lines' });

  const plain = mail.text?.trim() ?? '';
  if (plain !== '') for (const paragraph of plain.replaceAll('\r\n', '\n').split(/\n[ \t]*\n/)) builder.add({ text: paragraph, place: {} });
  else if (mail.html) {
    const html = new TextEncoder().encode(mail.html);
    const page = await readHtml({ kind: 'html', name, bytes: html, charset: 'utf-8', limit: MAX_DOCUMENT_CHARS }, signal);
    addMarkdown(builder, page.text);
  }

  const notes: string[] = [];
  for (const [index, { filename, mimeType, content, disposition }] of mail.attachments.entries()) {
    const attachment = filename ?? '';
    const kind = getPassageKind(attachment, mimeType);
    // Pictures without a name are part of the layout.
    if (kind === undefined || typeof content === 'string' || (kind === 'picture' && disposition !== 'attachment')) {
      if (attachment !== '') notes.push(`Attachment not read: ${attachment}`);
      continue;
    }
    const inner =
      index < MAX_ATTACHMENTS
        ? await context.readInner({ name: attachment || `attachment ${index + 1}`, mimeType, kind, bytes: new Uint8Array(content) })
        : undefined;
    if (!inner) notes.push(`Attachment not read: ${attachment || mimeType}`);
    else if (!builder.append(inner, [attachment || 'Attachment'])) break;
  }
  return { ...(subject === '' ? {} : { title: subject }), ...(notes.length > 0 ? { notes } : {}) };
}

/** A message of an mbox file starts with a line that is not part of it, and has a mark before lines that look like it (RFC 4155). */
function unwrapMbox(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (decodeText(bytes.subarray(0, 5)) !== 'From ') return bytes;
  const body = bytes.subarray(bytes.indexOf(0x0a) + 1);
  const marked = new Uint8Array(body.length);
  let length = 0;
  for (let from = 0; from < body.length;) {
    const end = body.indexOf(0x0a, from);
    const to = end === -1 ? body.length : end + 1;
    const line = body.subarray(from, to);
    const isMarked = line[0] === 0x3e && /^>+From /.test(decodeText(line.subarray(0, 40), 'latin1'));
    marked.set(isMarked ? line.subarray(1) : line, length);
    length += isMarked ? line.length - 1 : line.length;
    from = to;
  }
  return marked.subarray(0, length);
}

const formatAddresses = (addresses: readonly Address[]): string =>
  addresses
    .flatMap((each) => each.group ?? [each])
    .slice(0, MAX_ADDRESSES)
    .map(({ name, address }) => (name && address ? `${name} <${address}>` : name || address || ''))
    .filter((text) => text !== '')
    .join(', ');
