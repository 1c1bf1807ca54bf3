import { specTypeSchemas, type StandardSchemaV1, type Tool as McpTool } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import { legible } from '#shared/legible.ts';
import { z } from '#shared/rpc/zod.ts';

/** A page of a list. Its items are parsed one by one, so that an invalid item does not hide the others. */
const page = (key: string) => z.looseObject({ [key]: z.array(z.unknown()), nextCursor: z.unknown().optional() });
export const toolsPage = page('tools');
export const resourcesPage = page('resources');
export const templatesPage = page('resourceTemplates');
export const promptsPage = page('prompts');

/** Why a list ended at a page: it has no cursor (`undefined`), or an unusable one. */
export type ListEnd = 'repeated' | 'empty' | 'invalid' | undefined;

/** The cursor of the next page, or how the list ended. Many servers write `null` for no cursor. */
export function readCursor(next: unknown, seen: ReadonlySet<string>): { cursor: string } | { end: ListEnd } {
  if (next === undefined || next === null) return { end: undefined };
  if (typeof next !== 'string') return { end: 'invalid' };
  if (next === '') return { end: 'empty' };
  return seen.has(next) ? { end: 'repeated' } : { cursor: next };
}

const ENDS: Readonly<Record<NonNullable<ListEnd>, string>> = {
  repeated: 'The tool list ends early because the server repeats a cursor',
  empty: 'The tool list ends with an empty cursor',
  invalid: 'The tool list ends early because its cursor is not text',
};

export const describeEnd = (end: ListEnd): string[] => (end === undefined ? [] : [ENDS[end]]);

/** The items that match the schema. */
export async function readItems<S extends StandardSchemaV1>(items: unknown, schema: S): Promise<StandardSchemaV1.InferOutput<S>[]> {
  const read = await Promise.all((Array.isArray(items) ? items : []).map(async (item: unknown) => schema['~standard'].validate(item)));
  return read.flatMap((each) => (each.issues ? [] : [each.value as StandardSchemaV1.InferOutput<S>]));
}

/** The valid tools, and a sentence for each invalid one. `before`: number of tools on earlier pages. */
export async function readTools(items: unknown, before: number): Promise<{ tools: McpTool[]; problems: string[] }> {
  const tools: McpTool[] = [];
  const problems: string[] = [];
  for (const [at, item] of (Array.isArray(items) ? items : []).entries()) {
    const read = await specTypeSchemas.Tool['~standard'].validate(item);
    if (!read.issues) {
      tools.push(read.value);
      continue;
    }
    const named = z.object({ name: z.string().min(1) }).safeParse(item);
    const name = named.success ? legible(withoutMiddle(named.data.name, 100)) : `Tool ${before + at + 1}`;
    const [issue] = read.issues;
    const path = (issue?.path ?? []).map((key) => String(typeof key === 'object' ? key.key : key)).join('.');
    const why = issue ? `${path === '' ? '' : `${path}: `}${issue.message}` : 'unknown reason';
    problems.push(`${name} is skipped because it is invalid (${legible(withoutMiddle(why, 200))})`);
  }
  return { tools, problems };
}
