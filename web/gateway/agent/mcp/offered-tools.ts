import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { truncateMiddle } from '#shared/truncate-text.ts';
import type { ChangedTool } from '#shared/rpc/methods/mcp-contracts.ts';
import { isObject } from '#shared/merge-patch.ts';
import { APPROVED_ELSEWHERE } from '../approvals/approved-elsewhere.ts';
import { toCanonicalJson } from '#shared/canonical-json.ts';
import { toPrintable } from '#shared/printable.ts';
import { sha256 } from '#shared/sha256.ts';
import type { Clock } from '#shared/async/clock.ts';
import type { Tool, ToolContext, ToolRegistry } from '../tools/tool-registry.ts';
import { toSource } from '../trust/content-sources.ts';
import type { Vault } from '../../storage/vault-interface.ts';
import type { McpToolRecord } from '../../storage/records/mcp-tool-record.ts';
import { validateArguments } from './validate-arguments.ts';
import { toModelName, toSourceId, toToolName } from './mcp-tool-names.ts';
import { toModelResult, type ToolResult } from './mcp-results.ts';
import { toToolLabel } from './tool-label.ts';

/** Maximum lengths of a description and of a schema for models. */
const MAX_DESCRIPTION_CHARS = 4000;
const MAX_SCHEMA_CHARS = 64 * 1024;
/** Maximum number of characters of a call that are shown to a person. */
const MAX_SHOWN_CHARS = 1000;
/** Maximum number of stored tool approvals of a server for tools that it no longer has. */
const MAX_STORED_APPROVALS = 1000;
/** Maximum number of changed tools that a person is asked about at a time; all of them are listed. */
const MAX_PENDING_APPROVALS = 20;

interface OfferedToolsDeps {
  tools: ToolRegistry;
  vault: Pick<Vault, 'collection'>;
  clock: Clock;
  call(tool: string, args: Record<string, unknown>, context: ToolContext): Promise<ToolResult>;
  /** Asks a person whether a tool with a changed definition may be used again; resolves when it may. `signal` cancels the question. */
  requestApproval(changed: ChangedTool, signal: AbortSignal): Promise<void>;
}

/** The tools of one server in the tool pool. */
export class OfferedTools {
  readonly #server: string;
  readonly #deps: OfferedToolsDeps;
  readonly #registered = new Set<string>();
  /**
   * Changes that a person has been asked about, and pending questions by tool: a tool that changes again in the meantime is not asked about
   * twice.
   */
  readonly #requestedHashes = new Set<string>();
  readonly #pendingApprovals = new Map<string, AbortController>();
  #listed: readonly McpTool[] = [];
  #listProblems: readonly string[] = [];
  #changed: ChangedTool[] = [];
  #problems: string[] = [];
  #queue: Promise<unknown> = Promise.resolve();

  constructor(server: string, deps: OfferedToolsDeps) {
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
    const work = this.#queue.then(() => this.#offer(listed, problems));
    this.#queue = work.catch(() => {});
    return work;
  }

  /** Removes the server's tools from the pool. */
  withdraw(): Promise<void> {
    return this.offer([]);
  }

  /** Approves the changed tool with this definition hash; false if there is none. */
  async approve(hash: string): Promise<boolean> {
    const changed = this.#changed.find((tool) => tool.hash === hash);
    if (!changed) return false;
    await this.#storeApproval(changed.tool, hash);
    this.#pendingApprovals.get(changed.tool)?.abort(APPROVED_ELSEWHERE);
    await this.offer(this.#listed, this.#listProblems);
    return true;
  }

  async #offer(listed: readonly McpTool[], listProblems: readonly string[]): Promise<void> {
    const { tools, vault } = this.#deps;
    const stored = new Map((await vault.collection('mcpTools').list(`${this.#server}/`)).map((record) => [record.id, record]));
    const problems = [...listProblems];
    const changed: ChangedTool[] = [];
    const offered = new Map<string, Tool>();
    const isTaken = (own: string) => (model: string) =>
      [...tools.list(), ...offered.values()].some(
        (each) =>
          (each.modelName ?? each.name) === model && each.name !== own && (!this.#registered.has(each.name) || offered.has(each.name)),
      );
    for (const tool of listed) {
      const name = toToolName(this.#server, tool.name);
      const problem = offered.has(name) ? 'is listed twice' : findDefect(tool);
      if (problem !== undefined) {
        problems.push(`${toPrintable(truncateMiddle(tool.name, 100))} is skipped because it ${problem}`);
        continue;
      }
      const hash = await computeFingerprint(tool);
      const before = stored.get(toRecordId(this.#server, tool.name));
      if (before && before.hash !== hash) {
        changed.push({ tool: tool.name, hash, description: toPrintable(truncateMiddle(tool.description ?? '', MAX_DESCRIPTION_CHARS)) });
        continue;
      }
      if (!before) await this.#storeApproval(tool.name, hash);
      const model = await toModelName(this.#server, tool.name, isTaken(name));
      if (isTaken(name)(model)) {
        problems.push(`${name} is skipped because its name for models, ${model}, is already taken`);
        continue;
      }
      if (model !== toPlainName(this.#server, tool.name))
        problems.push(`${name} is named ${model} for models because its own name is too long or taken`);
      offered.set(name, this.#createTool(tool, name, model));
    }
    for (const name of this.#registered) tools.unregister(name);
    this.#registered.clear();
    for (const [name, tool] of offered) {
      tools.register(tool);
      this.#registered.add(name);
    }
    this.#listed = listed;
    this.#listProblems = listProblems;
    this.#problems = problems;
    this.#changed = changed;
    await this.#pruneApprovals(stored, new Set(listed.map((tool) => toRecordId(this.#server, tool.name))));
    for (const tool of changed) this.#requestApproval(tool);
  }

  #requestApproval(changed: ChangedTool): void {
    if (this.#requestedHashes.has(changed.hash) || this.#requestedHashes.size >= MAX_STORED_APPROVALS) return;
    if (this.#pendingApprovals.has(changed.tool) || this.#pendingApprovals.size >= MAX_PENDING_APPROVALS) return;
    this.#requestedHashes.add(changed.hash);
    const abort = new AbortController();
    this.#pendingApprovals.set(changed.tool, abort);
    this.#deps
      .requestApproval(changed, abort.signal)
      .finally(() => this.#pendingApprovals.delete(changed.tool))
      .then(
        () => this.approve(changed.hash),
        () => {},
      );
  }

  async #storeApproval(tool: string, hash: string): Promise<void> {
    const { vault, clock } = this.#deps;
    await vault.collection('mcpTools').put({ id: toRecordId(this.#server, tool), hash, approvedAt: clock.now() });
  }

  /** A server whose tools keep changing must not fill the vault. */
  async #pruneApprovals(stored: ReadonlyMap<string, McpToolRecord>, listed: ReadonlySet<string>): Promise<void> {
    const unlisted = [...stored.values()].filter(({ id }) => !listed.has(id)).sort((a, b) => b.approvedAt - a.approvedAt);
    for (const { id } of unlisted.slice(MAX_STORED_APPROVALS)) await this.#deps.vault.collection('mcpTools').remove(id);
  }

  #createTool(tool: McpTool, name: string, model: string): Tool {
    const { name: own, title, description, inputSchema, annotations = {} } = tool;
    const server = this.#server;
    return {
      name,
      modelName: model,
      ...toToolLabel(tool, server),
      description: truncateMiddle(description ?? title ?? `The tool ${own} of ${server}`, MAX_DESCRIPTION_CHARS),
      source: toSourceId(server),
      scope: 'servers',
      schema: inputSchema,
      // The tool's own hints, such as read-only, are not reliable.
      effect: (args) => `Use ${own} from the MCP server ${server} with ${truncateMiddle(JSON.stringify(args), MAX_SHOWN_CHARS)}`,
      // A tool with access to the open world can send data out in its arguments. The hints are part of the definition that a person
      // approved.
      impact: () => (annotations.readOnlyHint === true && annotations.openWorldHint === false ? 'reads' : 'changes'),
      validate: (args) => validateArguments(name, inputSchema, args),
      run: async (args, context) => {
        // Also before a call that fails: its message comes from the server.
        context.taint?.add([toSource('mcp', server)]);
        return toModelResult(await this.#deps.call(own, args, context), name, context);
      },
    };
  }
}

const toRecordId = (server: string, tool: string): string => `${server}/${tool}`;
const toPlainName = (server: string, tool: string): string => `mcp__${server}__${tool}`;

/** Why a tool cannot be offered, as a sentence without its subject. */
function findDefect({ name, inputSchema }: McpTool): string | undefined {
  if (!/^[\w./-]{1,128}$/.test(name)) return 'has an invalid name (allowed: up to 128 letters, digits, _ - . /)';
  if (JSON.stringify(inputSchema).length > MAX_SCHEMA_CHARS) return `has a schema larger than ${MAX_SCHEMA_CHARS / 1024} KiB`;
  if (inputSchema.properties !== undefined && !isObject(inputSchema.properties)) return 'has an invalid schema';
  return undefined;
}

const computeFingerprint = ({ name, title, description, inputSchema, outputSchema, annotations }: McpTool): Promise<string> =>
  sha256(toCanonicalJson({ name, title, description, inputSchema, outputSchema, annotations }));
