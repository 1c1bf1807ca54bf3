import { type ContentBlock, specTypeSchemas } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { bytesOfBase64 } from '#shared/base64.ts';
import { RpcError } from '#shared/rpc/errors.ts';
import { z } from '#shared/rpc/zod.ts';
import { canonical } from '../canonical.ts';
import { MAX_TEXT, UNTRUSTED } from '../tools/office-tools.ts';
import type { ToolContext } from '../tools/registry.ts';

/** Maximum number of parts of a result that are read. */
const MAX_PARTS = 100;

type Told = Record<string, unknown>;

/** A tool's result as servers send it. Its parts are parsed one by one, so that a part of unknown type does not hide the text. */
export const toolResult = z.looseObject({
  content: z.union([z.array(z.unknown()), z.string().transform((text) => [{ type: 'text', text }])]).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.unknown().optional(),
});
export type ToolResult = z.infer<typeof toolResult>;

/**
 * A result for the model, marked as outside content; images, audio and files are attached to the reply. Throws if the tool reports an
 * error.
 */
export function resultOf(result: ToolResult, tool: string, context: Pick<ToolContext, 'send'>): unknown {
  const { structuredContent, isError } = result;
  const content = result.content ?? [];
  const parts = content
    .slice(0, MAX_PARTS)
    .map((block, at) => (isBlock(block) ? partOf(block, `${tool}-${at + 1}`, context) : unknownPart(block)));
  const text = withoutMiddle(parts.flatMap((part) => (typeof part === 'string' ? [part] : [])).join('\n'), MAX_TEXT);
  if (isError === true) throw new RpcError('INTERNAL_ERROR', `${tool} failed: ${text || 'no reason given'}`);
  const others = parts.filter((part) => typeof part !== 'string');
  const data = structuredContent === undefined || isSaid(structuredContent, text) ? {} : { data: dataOf(structuredContent) };
  const left = content.length > MAX_PARTS ? { leftOut: content.length - MAX_PARTS } : {};
  return { note: UNTRUSTED, text, ...data, ...(others.length > 0 ? { parts: others } : {}), ...left };
}

/** Whether the text repeats the structured content, as servers are supposed to do. */
function isSaid(value: unknown, text: string): boolean {
  try {
    return canonical(JSON.parse(text)) === canonical(value);
  } catch {
    return false;
  }
}

function dataOf(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text.length <= MAX_TEXT ? value : withoutMiddle(text, MAX_TEXT);
}

const isBlock = (part: unknown): part is ContentBlock => !isIssue(specTypeSchemas.ContentBlock['~standard'].validate(part));

const isIssue = (read: object): boolean => 'issues' in read && read.issues !== undefined;

/** The text of a part of unknown type, or else its type. */
function unknownPart(part: unknown): string | Told {
  if (typeof part === 'string') return part;
  const { type, text } = unnamedPart.parse(part);
  return text ?? { ...shortened({ type }), shown: false, why: 'unknown or invalid content' };
}

const unnamedPart = z
  .object({ type: z.string().catch('unknown'), text: z.string().optional().catch(undefined) })
  .catch({ type: 'unknown' });

/** A text part as it is; other parts as a description. */
function partOf(block: ContentBlock, name: string, context: Pick<ToolContext, 'send'>): string | Told {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return { type: block.type, ...sent(context, name, block.mimeType, block.data) };
    case 'resource_link': {
      const { uri, title, description, mimeType } = block;
      return shortened({ type: 'link', uri, name: block.name, title, description, mimeType });
    }
    case 'resource': {
      const { uri, mimeType = 'application/octet-stream' } = block.resource;
      if ('text' in block.resource) return `${uri}:\n${block.resource.text}`;
      return {
        ...shortened({ type: 'file', uri }),
        ...sent(context, uri.split(/[/?#]/).findLast((part) => part !== '') ?? name, mimeType, block.resource.blob),
      };
    }
  }
}

const shortened = (told: Told): Told =>
  Object.fromEntries(
    Object.entries(told).flatMap(([key, value]) => (typeof value === 'string' ? [[key, withoutMiddle(value, 2000)]] : [])),
  );

/** Maximum length of a file name. */
const MAX_NAME = 100;

/** Attaches a file to the reply, if there is one with room for it. */
function sent({ send }: Pick<ToolContext, 'send'>, name: string, mimeType: string, data: string): Told {
  const size = bytesOfBase64(data);
  const about = { mimeType: mimeType.slice(0, MAX_NAME), bytes: size };
  if (!/^[\w.+-]+\/[\w.+-]+$/.test(mimeType) || !/^[A-Za-z0-9+/]*={0,2}$/.test(data))
    return { ...about, shown: false, why: 'invalid file' };
  if (!send) return { ...about, shown: false, why: 'files can’t be shown here' };
  try {
    send({ filename: withEnding(name.replace(/[^\w.-]/g, '_').slice(-MAX_NAME), mimeType), mimeType, data, size });
    return { ...about, shown: true };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return { ...about, shown: false, why: error.message };
  }
}

const withEnding = (name: string, mimeType: string): string =>
  name.includes('.') ? name : `${name}.${(mimeType.split('/')[1] ?? 'bin').replace(/\+.*$/, '')}`;
