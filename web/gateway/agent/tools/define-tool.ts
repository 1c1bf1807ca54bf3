import { formatValuePath } from '#shared/truncate-text.ts';
import { RpcError } from '#shared/rpc/rpc-error.ts';
import type { Area } from '#shared/rpc/scopes.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ToolSpec } from '../../providers/provider.ts';
import type { Impact, Tool, ToolContext } from './tool-registry.ts';

/** Defines a tool by a Zod schema of its arguments, which is validated before `run` and sent to models as JSON Schema. */
export function defineTool<P extends z.ZodObject>(tool: {
  name: string;
  /** Verb and object, for people, such as `Read file`. */
  title: string;
  /** One sentence for people. */
  summary: string;
  /** Description for models. */
  description: string;
  source: string;
  /** Scope that a key needs to use it; null if none. */
  scope: Area | null;
  /** Scope that a call needs instead, if it depends on the arguments. */
  scopeFor?(args: z.output<P>): Area | null;
  params: P;
  effect?(args: z.output<P>, context: ToolContext): string | undefined;
  /** Required if `effect` returns undefined for some calls (see `Tool`). */
  asksWhen?: string;
  check?(args: z.output<P>, context: ToolContext): Promise<unknown> | unknown;
  asks?: boolean;
  isOffered?: Tool['isOffered'];
  /** A constant, or a function of the arguments. */
  impact?: Impact | ((args: z.output<P>, context: ToolContext) => Impact | Promise<Impact>);
  run(args: z.output<P>, context: ToolContext): Promise<unknown> | unknown;
}): Tool {
  let schema: ToolSpec['schema'] | undefined;
  const { effect, check, impact, scopeFor } = tool;
  const parse = (args: Record<string, unknown>): z.output<P> => {
    const parsed = tool.params.safeParse(args);
    if (!parsed.success) throw new RpcError('INVALID_PARAMS', `Invalid arguments for ${tool.name}: ${formatIssues(parsed.error)}.`);
    return parsed.data;
  };
  return {
    name: tool.name,
    title: tool.title,
    summary: tool.summary,
    description: tool.description,
    source: tool.source,
    scope: tool.scope,
    ...(scopeFor ? { scopeFor: (args) => scopeFor(parse(args)) } : {}),
    // Computed on first access: a worker does not need it at startup.
    get schema() {
      return (schema ??= toJsonSchema(tool.params));
    },
    ...(effect ? { effect: (args, context) => effect(parse(args), context) } : {}),
    validate: (args) => void parse(args),
    check: async (args, context) => {
      const parsed = parse(args);
      await check?.(parsed, context);
    },
    ...(impact === undefined ? {} : { impact: (args, context) => (typeof impact === 'function' ? impact(parse(args), context) : impact) }),
    ...(tool.asksWhen === undefined ? {} : { asksWhen: tool.asksWhen }),
    ...(tool.asks === undefined ? {} : { asks: tool.asks }),
    ...(tool.isOffered ? { isOffered: tool.isOffered } : {}),
    run: async (args, context) => tool.run(parse(args), context),
  };
}

function toJsonSchema(params: z.ZodObject): ToolSpec['schema'] {
  const { $schema: _, ...schema } = z.toJSONSchema(params, { io: 'input' });
  return schema;
}

function formatIssues(error: z.ZodError): string {
  return error.issues
    .map((issue) => (issue.path.length > 0 ? `\`${formatValuePath(issue.path)}\` ${issue.message}` : issue.message))
    .join('; ');
}
