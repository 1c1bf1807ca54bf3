import { formatNumber } from '../i18n/format.ts';
import { m } from '../i18n/messages.ts';
import { toSentence } from '../sync/sync-status.ts';
import { gateway } from './gateway-connection.svelte.ts';

/** How this page is connected to the gateway, in words. */
class ConnectionStatus {
  #now = $state(Date.now());

  readonly #seconds = $derived(gateway.retryAt === null ? null : Math.max(0, Math.ceil((gateway.retryAt - this.#now) / 1000)));
  readonly #isFallback = $derived(
    gateway.state === 'online' && gateway.transport === 'browser' && gateway.bridge.isLinked && gateway.bridge.state === 'stopped',
  );
  readonly #isServing = $derived(gateway.host?.uplink === 'attached' && gateway.host.sync?.role === 'holder');

  /** Colour of the dot: works, needs attention, unknown. */
  readonly tone: 'good' | 'warn' | '' = $derived.by(() => {
    if (gateway.state === 'waiting' || gateway.problem) return 'warn';
    if (gateway.state === 'connecting') return '';
    return this.#isFallback ? 'warn' : 'good';
  });
  readonly label = $derived.by(() => {
    if (gateway.state === 'connecting') return m.shell_connecting();
    if (gateway.state === 'waiting') {
      if (gateway.isStorageFull) return m.shell_no_room();
      return this.#seconds ? m.shell_reconnecting_in({ seconds: formatNumber(this.#seconds) }) : m.shell_reconnecting();
    }
    if (gateway.transport === 'bridge') return m.shell_via_bridge();
    return this.#isFallback ? m.shell_via_browser_bridge_stopped() : m.shell_via_browser();
  });
  readonly description = $derived.by(() => {
    if (gateway.state === 'connecting') return m.shell_connecting_about();
    if (gateway.state === 'waiting') {
      if (gateway.isStorageFull) return m.shell_no_room_about();
      return gateway.problem === null ? m.shell_reconnecting_about() : m.shell_reconnecting_why({ problem: toSentence(gateway.problem) });
    }
    if (gateway.transport === 'bridge') return m.shell_via_bridge_about();
    if (this.#isFallback) return m.shell_via_browser_bridge_stopped_about();
    return this.#isServing ? m.shell_via_browser_serving_about() : m.shell_via_browser_about();
  });

  /** Counts down to the next attempt. Call within an effect; returns a function that ends it. */
  follow(): (() => void) | undefined {
    if (gateway.state !== 'waiting') return undefined;
    this.#now = Date.now();
    const timer = setInterval(() => (this.#now = Date.now()), 250);
    return () => clearInterval(timer);
  }
}

export const connectionStatus = new ConnectionStatus();
