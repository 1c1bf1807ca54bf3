import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { truncateText } from '#shared/truncate-text.ts';
import { toPrintable } from '#shared/printable.ts';
import type { ToolLabel } from '#shared/rpc/methods/tool-contracts.ts';

const MAX_TITLE_CHARS = 100;
const MAX_SUMMARY_CHARS = 200;
/** Maximum number of characters of a description that are searched for its first sentence. */
const MAX_SEARCHED_CHARS = 2000;

/** An abbreviation whose full stop does not end a sentence. */
const ABBREVIATION = /\b(?:e\.g|i\.e|vs|cf)\.\s*$/i;

const sentenceSegmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Title and summary of an MCP tool for people: its own title, else its name, and the first sentence of its description. */
export function toToolLabel({ name, title, annotations, description }: McpTool, server: string): ToolLabel {
  return {
    title: toLine(title, MAX_TITLE_CHARS) || toLine(annotations?.title, MAX_TITLE_CHARS) || name,
    summary: toLine(findFirstSentence(description ?? ''), MAX_SUMMARY_CHARS) || `Tool of the MCP server ${server}.`,
  };
}

/** The first sentence of the first paragraph. */
function findFirstSentence(text: string): string {
  const [paragraph = ''] = text
    .trim()
    .slice(0, MAX_SEARCHED_CHARS)
    .split(/\n\s*\n/);
  let found = '';
  for (const { segment } of sentenceSegmenter.segment(paragraph.replace(/\s+/g, ' '))) {
    found += segment;
    if (!ABBREVIATION.test(found)) break;
  }
  return found;
}

/** Text of a server as one line without hidden characters. */
const toLine = (text: string | undefined, maxChars: number): string =>
  truncateText(toPrintable((text ?? '').replace(/\s+/g, ' ').trim()), maxChars);
