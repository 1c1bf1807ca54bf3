import { CHANNEL_REPLY_PREFIX } from '#shared/channel-reply.ts';
import { toPrintable } from '#shared/printable.ts';
import type { ToolLabel } from '#shared/rpc/methods/tool-contracts.ts';
import { gateway } from '../connection/gateway-connection.svelte.ts';
import { m } from '../i18n/messages.ts';
import { toChannelName } from './describe-sources.ts';

/** Titles and summaries of tools for people. */
class ToolLabels {
  /** By tool name, and by the name that models use. */
  #labels = $state.raw<Readonly<Record<string, ToolLabel>>>({});
  #started = false;
  #loadCount = 0;

  /** Loads them the first time, and whenever an MCP server changes. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    void this.#load();
    gateway.on('mcp.changed', () => void this.#load());
  }

  /** Undefined until they are loaded, and for a tool that no longer exists. */
  get(name: string): ToolLabel | undefined {
    return Object.hasOwn(this.#labels, name) ? this.#labels[name] : undefined;
  }

  /** The title of a tool, or its name. */
  getTitle(name: string): string {
    if (name.startsWith(CHANNEL_REPLY_PREFIX)) return m.approval_reply({ channel: toChannelName(name.slice(CHANNEL_REPLY_PREFIX.length)) });
    return this.get(name)?.title ?? toPrintable(name);
  }

  async #load(): Promise<void> {
    const loadId = ++this.#loadCount;
    // Without labels, names are shown.
    const { labels = {} } = await gateway.call('tools.list', {}).catch(() => ({ labels: this.#labels }));
    if (loadId === this.#loadCount) this.#labels = labels;
  }
}

export const toolLabels = new ToolLabels();
