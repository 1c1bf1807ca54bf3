import { type ContentBlock, specTypeSchemas } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { getBase64ByteLength } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import { z } from '#shared/rpc/zod.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { MAX_TEXT_CHARS, UNTRUSTED_NOTE } from '../tools/office-tools.ts';
import type { ToolContext } from '../tools/tool-registry.ts';

/** Maximum number of parts of a result that are read. */
const MAX_PARTS = 100;

type ResultPart = Record<string, unknown>;

/** A tool's result as servers send it. Its parts are parsed one by one, so that a part of unknown type does not hide the text. */
export const toolResultSchema = z.looseObject({
  content: z.union([z.array(z.unknown()), z.string().transform((text) => [{ type: 'text', text }])]).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
});
export type ToolResult = z.infer<typeof toolResultSchema>;

/**
 * A result for the model, marked as outside content; images, audio and files are attached to the reply. Throws if the tool reports an
 * error.
 */
export function toModelResult(result: ToolResult, tool: string, context: Pick<ToolContext, 'send'>): unknown {
  const { structuredContent, isError } = result;
  const content = result.content ?? [];
  const parts = content
    .slice(0, MAX_PARTS)
    .map((block, index) => (isBlock(block) ? toPart(block, `${tool}-${index + 1}`, context) : toUnknownPart(block)));
  const text = truncateMiddle(parts.flatMap((part) => (typeof part === 'string' ? [part] : [])).join('\n'), MAX_TEXT_CHARS);
  if (isError === true) throw new RpcError('INTERNAL_ERROR', `${tool} failed: ${text || 'no reason given'}`);
  const others = parts.filter((part) => typeof part !== 'string');
  const data = structuredContent === undefined || isRepeated(structuredContent, text) ? {} : { data: limitData(structuredContent) };
  const omitted = content.length > MAX_PARTS ? { leftOut: content.length - MAX_PARTS } : {};
  return { note: UNTRUSTED_NOTE, text, ...data, ...(others.length > 0 ? { parts: others } : {}), ...omitted };
}

/** Whether the text repeats the structured content, as servers are supposed to do. */
function isRepeated(value: unknown, text: string): boolean {
  try {
    return toCanonicalJson(JSON.parse(text)) === toCanonicalJson(value);
  } catch {
    return false;
  }
}

function limitData(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= MAX_TEXT_CHARS ? value : truncateMiddle(text, MAX_TEXT_CHARS);
}

const isBlock = (part: unknown): part is ContentBlock => !isIssue(specTypeSchemas.ContentBlock['~standard'].validate(part));

const isIssue = (result: object): boolean => 'issues' in result && result.issues !== undefined;

/** The text of a part of unknown type, or else its type. */
function toUnknownPart(part: unknown): string | ResultPart {
  if (typeof part === 'string') return part;
  const { type, text } = looseBlock.parse(part);
  return text ?? { ...shortenFields({ type }), shown: false, why: 'unknown or invalid content' };
}

const looseBlock = z.object({ type: z.string().catch('unknown'), text: z.string().optional().catch(undefined) }).catch({ type: 'unknown' });

/** A text part as it is; other parts as a description. */
function toPart(block: ContentBlock, name: string, context: Pick<ToolContext, 'send'>): string | ResultPart {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return { type: block.type, ...attachFile(context, name, block.mimeType, block.data) };
    case 'resource_link': {
      const { uri, title, description, mimeType } = block;
      return shortenFields({ type: 'link', uri, name: block.name, title, description, mimeType });
    }
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      if ('text' in block.resource) return `${uri}:\n${block.resource.text}`;
      return {
        ...shortenFields({ type: 'file', uri }),
        ...attachFile(context, uri.split(/[/?#]/).findLast((part) => part !== '') ?? name, mimeType, block.resource.blob),
      };
    }
  }
}

const shortenFields = (fields: ResultPart): ResultPart =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, value]) => (typeof value === 'string' ? [[key, truncateMiddle(value, 2000)]] : [])),
  );

/** Maximum length of a file name. */
const MAX_NAME_CHARS = 100;

/** Attaches a file to the reply, if there is one with room for it. */
function attachFile({ send }: Pick<ToolContext, 'send'>, name: string, mimeType: string, data: string): ResultPart {
  const size = getBase64ByteLength(data);
  const fileFields = { mimeType: mimeType.slice(0, MAX_NAME_CHARS), bytes: size };
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mimeType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    return { ...fileFields, shown: false, why: 'invalid file' };
  if (!send) return { ...fileFields, shown: false, why: 'files can’t be shown here' };
  try {
    send({ filename: withExtension(name.replace(/[^\w.-]/g, '_').slice(-MAX_NAME_CHARS), mimeType), mimeType, data, size });
    return { ...fileFields, shown: true };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { ...fileFields, shown: false, why: error.message };
  }
}

const withExtension = (name: string, mimeType: string): string =>
  name.includes('.') ? name : `${name}.${(mimeType.split('/')[1] ?? 'bin').replace(/\+.*$/, '')}`;
