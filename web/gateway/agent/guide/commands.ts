import { parseJson } from '#shared/parse-json.ts';
import type { ToolSpec } from '../../providers/provider.ts';

/** A tool with its summary for people, if it is known. */
export type ListedTool = ToolSpec & { summary?: string };

/** A request to the guide other than a question. */
export type Command =
  | { kind: 'help' }
  | { kind: 'tools' }
  | { kind: 'run'; tool: string; args: Record<string, unknown> }
  /** A command that cannot be carried out, and the text to reply with. */
  | { kind: 'refused'; why: string };

const REMEMBER = /^(?:please\s+)?(?:remember|note)(?:\s+that|:)?\s+(\S[\s\S]*)$/i;
const TIME = /^what(?:'s|’s| is)?\s+(?:the\s+)?(?:current\s+)?(?:time|date|day)(?:\s+is\s+it)?(?:\s+(?:now|today))?\s*\?*$/i;

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A call as a person would type it, from the tool's schema. */
export function toExampleCall({ name, schema }: ToolSpec): string {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const args = Object.entries(properties).flatMap(([key, property]) => {
    if (!required.includes(key)) return [];
    const type = isObject(property) ? property['type'] : undefined;
    return [[key, type === 'number' || type === 'integer' ? 1 : type === 'boolean' ? true : type === 'array' ? [] : '…'] as const];
  });
  return args.length === 0 ? `/tool ${name}` : `/tool ${name} ${JSON.stringify(Object.fromEntries(args))}`;
}

/** The tools as a Markdown list. */
export function formatToolList(tools: readonly ListedTool[]): string {
  return tools.map((tool) => `- \`${toExampleCall(tool)}\`: ${tool.summary ?? tool.description}`).join('\n');
}

function parseToolCommand(input: string, tools: readonly ListedTool[]): Command {
  const [, name = '', json = ''] = /^(\S*)\s*([\s\S]*)$/.exec(input) ?? [];
  if (name === '') return { kind: 'refused', why: `Enter a tool name: \`/tool <name> {json}\`.\n\n${formatToolList(tools)}` };
  const tool = tools.find((tool) => tool.name === name);
  if (!tool) return { kind: 'refused', why: `Unknown tool \`${name.replaceAll('`', '')}\`. Available tools:\n\n${formatToolList(tools)}` };
  let args: unknown;
  try {
    args = json.trim() === '' ? {} : parseJson(json);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return {
      kind: 'refused',
      why: `The arguments of \`${name}\` are not valid JSON (${reason}). For example:\n\n\`${toExampleCall(tool)}\``,
    };
  }
  if (!isObject(args))
    return { kind: 'refused', why: `The arguments of \`${name}\` must be a JSON object. For example:\n\n\`${toExampleCall(tool)}\`` };
  return { kind: 'run', tool: name, args };
}

/** Parses a message as a command; undefined if it is an ordinary question. `tools`: the tools that may be run here. */
export function parseCommand(text: string, tools: readonly ListedTool[]): Command | undefined {
  const [, name, rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(text) ?? [];
  switch (name?.toLowerCase()) {
    case undefined:
      break;
    case 'help':
      return { kind: 'help' };
    case 'tools':
      return { kind: 'tools' };
    case 'tool':
      return tools.length === 0 ? { kind: 'refused', why: 'Tools cannot be run from here.' } : parseToolCommand(rest.trim(), tools);
    default:
      return { kind: 'refused', why: `Unknown command \`/${name}\`. Available: \`/help\`, \`/tools\` and \`/tool <name> {json}\`.` };
  }
  const has = (tool: string): boolean => tools.some((spec) => spec.name === tool);
  const fact = REMEMBER.exec(text)?.[1];
  if (fact && !fact.trim().endsWith('?') && has('memory_add')) return { kind: 'run', tool: 'memory_add', args: { text: fact.trim() } };
  if (TIME.test(text) && has('current_time')) return { kind: 'run', tool: 'current_time', args: {} };
  return undefined;
}
