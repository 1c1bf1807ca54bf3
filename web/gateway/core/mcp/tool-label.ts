import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { cutShort } from '#shared/cut-short.ts';
import { legible } from '#shared/legible.ts';
import type { ToolLabel } from '#shared/rpc/methods/tools.ts';

const MAX_TITLE = 100;
const MAX_SUMMARY = 200;
/** Maximum number of characters of a description that are searched for its first sentence. */
const MAX_SEARCHED = 2000;

/** An abbreviation whose full stop does not end a sentence. */
const ABBREVIATION = /\b(?:e\.g|i\.e|vs|cf)\.\s*$/i;

const sentences = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Title and summary of an MCP tool for people: its own title, else its name, and the first sentence of its description. */
export function toToolLabel({ name, title, annotations, description }: McpTool, server: string): ToolLabel {
  return {
    title: toLine(title, MAX_TITLE) || toLine(annotations?.title, MAX_TITLE) || name,
    summary: toLine(firstSentence(description ?? ''), MAX_SUMMARY) || `Tool of the MCP server ${server}.`,
  };
}

/** The first sentence of the first paragraph. */
function firstSentence(text: string): string {
  const [paragraph = ''] = text
    .trim()
    .slice(0, MAX_SEARCHED)
    .split(/\n\s*\n/);
  let found = '';
  for (const { segment } of sentences.segment(paragraph.replace(/\s+/g, ' '))) {
    found += segment;
    if (!ABBREVIATION.test(found)) break;
  }
  return found;
}

/** Text of a server as one line without hidden characters. */
const toLine = (text: string | undefined, most: number): string => cutShort(legible((text ?? '').replace(/\s+/g, ' ').trim()), most);
