import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { withoutMiddle } from '#shared/cut-short.ts';
import type { ChangedTool } from '#shared/rpc/methods/mcp.ts';
import { isObject } from '../merge.ts';
import { APPROVED_ELSEWHERE } from '../approvals/approved-elsewhere.ts';
import { canonical } from '../canonical.ts';
import { legible } from '#shared/legible.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Clock } from '../clock.ts';
import type { Tool, ToolContext, ToolRegistry } from '../tools/registry.ts';
import { toSource } from '../trust/sources.ts';
import type { McpToolRecord, Vault } from '../vault.ts';
import { requireFitting } from './arguments.ts';
import { modelName, sourceOf, toolName } from './names.ts';
import { resultOf, type ToolResult } from './results.ts';
import { toToolLabel } from './tool-label.ts';

/** Maximum lengths of a description and of a schema for models. */
const MAX_DESCRIPTION = 4000;
const MAX_SCHEMA = 64 * 1024;
/** Maximum number of characters of a call that are shown to a person. */
const MAX_SHOWN = 1000;
/** Maximum number of stored tool approvals of a server for tools that it no longer has. */
const KEPT = 1000;
/** Maximum number of changed tools that a person is asked about at a time; all of them are listed. */
const MAX_ASKING = 20;

export interface OfferedDeps {
  tools: ToolRegistry;
  vault: Pick<Vault, 'collection'>;
  clock: Clock;
  call(tool: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
  /** Asks a person whether a tool with a changed definition may be used again; resolves when it may. `signal` cancels the question. */
  ask(changed: ChangedTool, signal: AbortSignal): Promise<void>;
}

/** The tools of one server in the tool pool. */
export class OfferedTools {
  readonly #server: string;
  readonly #deps: OfferedDeps;
  readonly #registered = new Set<string>();
  /**
   * Changes that a person has been asked about, and pending questions by tool: a tool that changes again in the meantime is not asked about
   * twice.
   */
  readonly #asked = new Set<string>();
  readonly #asking = new Map<string, AbortController>();
  #listed: readonly McpTool[] = [];
  #listProblems: readonly string[] = [];
  #changed: ChangedTool[] = [];
  #problems: string[] = [];
  #tail: Promise<unknown> = Promise.resolve();

  constructor(server: string, deps: OfferedDeps) {
    this.#server = server;
    this.#deps = deps;
  }

  get count(): number {
    return this.#registered.size;
  }

  /** Tools that are disabled because their definition differs from the approved one. */
  get changed(): readonly ChangedTool[] {
    return this.#changed;
  }

  /** Problems of the server's list, for a person. */
  get problems(): readonly string[] {
    return this.#problems;
  }

  /** Replaces the server's tools in the pool. `problems`: sentences about its list. */
  offer(listed: readonly McpTool[], problems: readonly string[] = []): Promise<void> {
    const work = this.#tail.then(() => this.#offer(listed, problems));
    this.#tail = work.catch(() => {});
    return work;
  }

  /** Removes the server's tools from the pool. */
  withdraw(): Promise<void> {
    return this.offer([]);
  }

  /** Approves the changed tool with this definition hash; false if there is none. */
  async approve(hash: string): Promise<boolean> {
    const changed = this.#changed.find((each) => each.hash === hash);
    if (!changed) return false;
    await this.#remember(changed.tool, hash);
    this.#asking.get(changed.tool)?.abort(APPROVED_ELSEWHERE);
    await this.offer(this.#listed, this.#listProblems);
    return true;
  }

  async #offer(listed: readonly McpTool[], listProblems: readonly string[]): Promise<void> {
    const { tools, vault } = this.#deps;
    const known = new Map((await vault.collection('mcpTools').list(`${this.#server}/`)).map((record) => [record.id, record]));
    const problems = [...listProblems];
    const changed: ChangedTool[] = [];
    const wanted = new Map<string, Tool>();
    const isTaken = (own: string) => (model: string) =>
      [...tools.list(), ...wanted.values()].some(
        (each) =>
          (each.modelName ?? each.name) === model && each.name !== own && (!this.#registered.has(each.name) || wanted.has(each.name)),
      );
    for (const tool of listed) {
      const name = toolName(this.#server, tool.name);
      const problem = wanted.has(name) ? 'is listed twice' : unfit(tool);
      if (problem !== undefined) {
        problems.push(`${legible(withoutMiddle(tool.name, 100))} is skipped because it ${problem}`);
        continue;
      }
      const hash = await fingerprint(tool);
      const before = known.get(idOf(this.#server, tool.name));
      if (before && before.hash !== hash) {
        changed.push({ tool: tool.name, hash, description: legible(withoutMiddle(tool.description ?? '', MAX_DESCRIPTION)) });
        continue;
      }
      if (!before) await this.#remember(tool.name, hash);
      const model = await modelName(this.#server, tool.name, isTaken(name));
      if (isTaken(name)(model)) {
        problems.push(`${name} is skipped because its name for models, ${model}, is already taken`);
        continue;
      }
      if (model !== plainName(this.#server, tool.name))
        problems.push(`${name} is named ${model} for models because its own name is too long or taken`);
      wanted.set(name, this.#tool(tool, name, model));
    }
    for (const name of this.#registered) tools.unregister(name);
    this.#registered.clear();
    for (const [name, tool] of wanted) {
      tools.register(tool);
      this.#registered.add(name);
    }
    this.#listed = listed;
    this.#listProblems = listProblems;
    this.#problems = problems;
    this.#changed = changed;
    await this.#forget(known, new Set(listed.map((tool) => idOf(this.#server, tool.name))));
    for (const each of changed) this.#ask(each);
  }

  #ask(changed: ChangedTool): void {
    if (this.#asked.has(changed.hash) || this.#asked.size >= KEPT) return;
    if (this.#asking.has(changed.tool) || this.#asking.size >= MAX_ASKING) return;
    this.#asked.add(changed.hash);
    const over = new AbortController();
    this.#asking.set(changed.tool, over);
    this.#deps
      .ask(changed, over.signal)
      .finally(() => this.#asking.delete(changed.tool))
      .then(
        () => this.approve(changed.hash),
        () => {},
      );
  }

  async #remember(tool: string, hash: string): Promise<void> {
    const { vault, clock } = this.#deps;
    await vault.collection('mcpTools').put({ id: idOf(this.#server, tool), hash, approvedAt: clock.now() });
  }

  /** A server whose tools keep changing must not fill the vault. */
  async #forget(known: ReadonlyMap<string, McpToolRecord>, listed: ReadonlySet<string>): Promise<void> {
    const left = [...known.values()].filter(({ id }) => !listed.has(id)).sort((a, b) => b.approvedAt - a.approvedAt);
    for (const { id } of left.slice(KEPT)) await this.#deps.vault.collection('mcpTools').remove(id);
  }

  #tool(tool: McpTool, name: string, model: string): Tool {
    const { name: own, title, description, inputSchema, annotations = {} } = tool;
    const server = this.#server;
    return {
      name,
      modelName: model,
      ...toToolLabel(tool, server),
      description: withoutMiddle(description ?? title ?? `The tool ${own} of ${server}`, MAX_DESCRIPTION),
      source: sourceOf(server),
      scope: 'servers',
      schema: inputSchema,
      // The tool's own hints, such as read-only, are not reliable.
      effect: (args) => `Use ${own} from the MCP server ${server} with ${withoutMiddle(JSON.stringify(args), MAX_SHOWN)}`,
      // A tool with access to the open world can send data out in its arguments. The hints are part of the definition that a person
      // approved.
      impact: () => (annotations.readOnlyHint === true && annotations.openWorldHint === false ? 'reads' : 'changes'),
      validate: (args) => requireFitting(name, inputSchema, args),
      run: async (args, context) => {
        // Also before a call that fails: its message comes from the server.
        context.taint?.add([toSource('mcp', server)]);
        return resultOf(await this.#deps.call(own, args, context), name, context);
      },
    };
  }
}

const idOf = (server: string, tool: string): string => `${server}/${tool}`;
const plainName = (server: string, tool: string): string => `mcp__${server}__${tool}`;

/** Why a tool cannot be offered, as a sentence without its subject. */
function unfit({ name, inputSchema }: McpTool): string | undefined {
  if (!/^[\w./-]{1,128}$/.test(name)) return 'has an invalid name (allowed: up to 128 letters, digits, _ - . /)';
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA) return `has a schema larger than ${MAX_SCHEMA / 1024} KiB`;
  if (inputSchema.properties !== undefined && !isObject(inputSchema.properties)) return 'has an invalid schema';
  return undefined;
}

const fingerprint = ({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): Promise<string> =>
  sha256(canonical({ name, title, description, inputSchema, outputSchema, annotations }));
