import { specTypeSchemas, type StandardSchemaV1, type Tool as McpTool } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import { toPrintable } from '#shared/printable.ts';
import { z } from '#shared/rpc/zod.ts';

/** A page of a list. Its items are parsed one by one, so that an invalid item does not hide the others. */
const createPageSchema = (key: string) => z.looseObject({ [key]: z.array(z.unknown()), nextCursor: z.unknown().optional() });
export const toolsPageSchema = createPageSchema('tools');
export const resourcesPageSchema = createPageSchema('resources');
export const templatesPageSchema = createPageSchema('resourceTemplates');
export const promptsPageSchema = createPageSchema('prompts');

/** Why a list ended at a page: it has no cursor (`undefined`), or an unusable one. */
export type ListEnd = 'repeated' | 'empty' | 'invalid' | undefined;

/** The cursor of the next page, or how the list ended. Many servers write `null` for no cursor. */
export function readCursor(next: unknown, seenCursors: ReadonlySet<string>): { cursor: string } | { end: ListEnd } {
  if (next === undefined || next === null) return { end: undefined };
  if (typeof next !== 'string') return { end: 'invalid' };
  if (next === '') return { end: 'empty' };
  return seenCursors.has(next) ? { end: 'repeated' } : { cursor: next };
}

const END_MESSAGES: Readonly<Record<NonNullable<ListEnd>, string>> = {
  repeated: 'The tool list ends early because the server repeats a cursor',
  empty: 'The tool list ends with an empty cursor',
  invalid: 'The tool list ends early because its cursor is not text',
};

export const describeEnd = (end: ListEnd): string[] => (end === undefined ? [] : [END_MESSAGES[end]]);

/** The items that match the schema. */
export async function readItems<S extends StandardSchemaV1>(items: unknown, schema: S): Promise<StandardSchemaV1.InferOutput<S>[]> {
  const validated = await Promise.all((Array.isArray(items) ? items : []).map(async (item: unknown) => schema['~standard'].validate(item)));
  return validated.flatMap((result) => (result.issues ? [] : [result.value as StandardSchemaV1.InferOutput<S>]));
}

/** The valid tools, and a sentence for each invalid one. `before`: number of tools on earlier pages. */
export async function readTools(items: unknown, before: number): Promise<{ tools: McpTool[]; problems: string[] }> {
  const tools: McpTool[] = [];
  const problems: string[] = [];
  for (const [index, item] of (Array.isArray(items) ? items : []).entries()) {
    const validated = await specTypeSchemas.Tool['~standard'].validate(item);
    if (!validated.issues) {
      tools.push(validated.value);
      continue;
    }
    const parsedName = z.object({ name: z.string().min(1) }).safeParse(item);
    const name = parsedName.success ? toPrintable(truncateMiddle(parsedName.data.name, 100)) : `Tool ${before + index + 1}`;
    const [issue] = validated.issues;
    const path = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key)).join('.');
    const reason = issue ? `${path === '' ? '' : `${path}: `}${issue.message}` : 'unknown reason';
    problems.push(`${name} is skipped because it is invalid (${toPrintable(truncateMiddle(reason, 200))})`);
  }
  return { tools, problems };
}
