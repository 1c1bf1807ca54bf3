import type { ToolCall } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import type { ToolSpec } from '../../../providers/provider.ts';
import type { IgnoredFields } from '../ignored-fields.ts';
import { parseHttpParams } from '../parse-http-params.ts';
import type { CallItem, CustomCallItem } from '../../../storage/records/response-record.ts';
import { type HostedTool, type HostedToolName, readHostedTool } from './hosted-tools.ts';

const anyTool = z.looseObject({ type: z.string() });
const functionTool = z.looseObject({
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
  strict: z.boolean().nullish(),
});
const customTool = z.looseObject({
  name: z.string().min(1).max(128),
  description: z.string().nullish(),
  format: z.looseObject({ type: z.string(), syntax: z.string().nullish(), definition: z.string().nullish() }).nullish(),
});
const namespaceTool = z.looseObject({ name: z.string().min(1).max(128), tools: z.array(z.unknown()) });

/** Providers accept tool names of up to 64 characters. */
const MAX_NAME_CHARS = 64;

/** A tool as the client knows it. */
interface CallerTool {
  type: 'function' | 'custom';
  name: string;
  namespace?: string;
}

/** The name by which a model knows a tool of a namespace; long ones end with a hash. */
export function toModelName({ name, namespace }: { name: string; namespace?: string | undefined }): string {
  if (namespace === undefined) return name;
  const fullName = `${namespace}${namespace.endsWith('__') ? '' : '__'}${name}`;
  if (fullName.length <= MAX_NAME_CHARS) return fullName;
  let hash = 0x811c9dc5;
  for (const char of fullName) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return `${fullName.slice(0, MAX_NAME_CHARS - 9)}_${hash.toString(16).padStart(8, '0')}`;
}

/** The tools of a request as functions for the model; converts its calls back for the client. */
export class ResponseTools {
  readonly specs: ToolSpec[] = [];
  /** The tools as the client defined them. */
  readonly echo: unknown[] = [];
  readonly #tools = new Map<string, CallerTool>();
  /** Hosted tools that are not settled yet. */
  #hosted: HostedTool[] = [];

  /** Unsupported tools are omitted and added to `ignored`. Throws a 400 for an invalid tool. */
  constructor(tools: readonly unknown[], ignored: IgnoredFields) {
    for (const [index, tool] of tools.entries()) this.#read(tool, ['tools', index], ignored);
  }

  #read(tool: unknown, toolPath: readonly (string | number)[], ignored: IgnoredFields, namespace?: string): void {
    const { type } = parseHttpParams(anyTool, tool, toolPath);
    if (type === 'function') {
      const { name, description, parameters, strict } = parseHttpParams(functionTool, tool, toolPath);
      this.#add({ type, name, ...(namespace === undefined ? {} : { namespace }) }, description, parameters ?? EMPTY_SCHEMA, strict);
      if (namespace === undefined)
        this.echo.push({ type, name, description: description ?? null, parameters: parameters ?? null, strict: strict ?? null });
    } else if (type === 'custom') {
      const { name, description, format } = parseHttpParams(customTool, tool, toolPath);
      const grammar = format?.definition ? `\nThe input must match this ${format.syntax ?? ''} grammar:\n${format.definition}` : '';
      this.#add(
        { type, name, ...(namespace === undefined ? {} : { namespace }) },
        `${description ?? ''}${grammar}`,
        CUSTOM_TOOL_SCHEMA,
        undefined,
      );
      if (namespace === undefined) this.echo.push(tool);
    } else if (type === 'namespace' && namespace === undefined) {
      const namespaceParams = parseHttpParams(namespaceTool, tool, toolPath);
      for (const [index, inner] of namespaceParams.tools.entries())
        this.#read(inner, [...toolPath, 'tools', index], ignored, namespaceParams.name);
      this.echo.push(tool);
    } else {
      const path = toolPath.reduce<string>(
        (parent, key) => (typeof key === 'number' ? `${parent}[${key}]` : parent ? `${parent}.${key}` : key),
        '',
      );
      const hosted = namespace === undefined ? readHostedTool(type, tool, { toolPath, path, ignored }) : undefined;
      if (hosted) this.#hosted.push(hosted);
      else ignored.add(path);
    }
  }

  /** Whether a hosted tool that Perch can run is requested; with `name`, this one. */
  requestsHosted(name?: HostedToolName): boolean {
    return this.#hosted.some((hosted) => name === undefined || hosted.name === name);
  }

  /**
   * Settles the hosted tool with this name. Resolves with it; if it is not available, or hidden by a function of its name, it is ignored.
   */
  async settleHosted<N extends HostedToolName>(
    name: N,
    isAvailable: (tool: Extract<HostedTool, { name: N }>) => boolean | Promise<boolean>,
    ignored: IgnoredFields,
  ): Promise<Extract<HostedTool, { name: N }> | undefined> {
    const isNamed = (hosted: HostedTool): hosted is Extract<HostedTool, { name: N }> => hosted.name === name;
    const [first, ...others] = this.#hosted.filter(isNamed);
    if (!first) return undefined;
    this.#hosted = this.#hosted.filter((hosted) => hosted.name !== name);
    const isUsed = !this.#tools.has(name) && (await isAvailable(first));
    if (isUsed) this.echo.push(first.tool);
    for (const { path } of isUsed ? others : [first, ...others]) ignored.add(path);
    return isUsed ? first : undefined;
  }

  /** Ignores all hosted tools. */
  ignoreHosted(ignored: IgnoredFields): void {
    for (const { path } of this.#hosted.splice(0)) ignored.add(path);
  }

  #add(
    tool: CallerTool,
    description: string | null | undefined,
    schema: Record<string, unknown>,
    strict: boolean | null | undefined,
  ): void {
    const name = toModelName(tool);
    this.#tools.set(name, tool);
    this.specs.push({ name, description: description ?? '', schema, ...(strict == null ? {} : { strict }) });
  }

  /** Whether a model can call this tool of the client. */
  has(type: string, name: string): boolean {
    return this.#tools.get(name)?.type === type;
  }

  /** Converts a model's call to the format that the client expects. */
  toItem({ id, tool, args }: ToolCall): Omit<CallItem, 'id' | 'status'> | Omit<CustomCallItem, 'id' | 'status'> {
    const { type, name, namespace } = this.#tools.get(tool) ?? { type: 'function', name: tool };
    const callFields = { call_id: id, name, ...(namespace === undefined ? {} : { namespace }) };
    if (type === 'function') return { type: 'function_call', ...callFields, arguments: JSON.stringify(args) };
    const { input } = args;
    return { type: 'custom_tool_call', ...callFields, input: typeof input === 'string' ? input : JSON.stringify(args) };
  }
}

const EMPTY_SCHEMA = { type: 'object', properties: {} };
/** Parameters of a custom tool, which takes free text. */
const CUSTOM_TOOL_SCHEMA = {
  type: 'object',
  properties: { input: { type: 'string', description: 'The whole input of the tool, as text' } },
  required: ['input'],
  additionalProperties: false,
};
