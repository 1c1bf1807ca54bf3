import { setTimeout as sleep } from 'node:timers/promises';
import type { CdpConnection, CdpEvent } from './cdp-connection.ts';

const LOAD_MS = 30_000;
const POLL_MS = 50;

/** Events of a tab. */
interface TabEvents {
  /** A page has loaded, the requested one or a reload. */
  load(): void;
  /** A page reported an error. */
  error(text: string): void;
  /** The tab has crashed or was closed; no more events follow. */
  end(reason: 'crashed' | 'was closed'): void;
}

/** A tab of a browser. */
export class ChromiumTab {
  readonly #cdp: CdpConnection;
  readonly #target: string;
  readonly #session: string;
  #hasEnded = false;

  private constructor(cdp: CdpConnection, target: string, session: string) {
    this.#cdp = cdp;
    this.#target = target;
    this.#session = session;
  }

  static async open(cdp: CdpConnection): Promise<ChromiumTab> {
    const { targetId } = await cdp.call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await cdp.call('Target.attachToTarget', { targetId, flatten: true });
    return new ChromiumTab(cdp, String(targetId), String(sessionId));
  }

  get closed(): boolean {
    return this.#hasEnded;
  }

  /** Resolves once events are enabled. */
  async watch(events: TabEvents): Promise<void> {
    const stop = this.#cdp.listen((event) => {
      const reason = this.#endOf(event);
      if (reason !== undefined) {
        this.#hasEnded = true;
        stop();
        events.end(reason);
      } else if (event.session === this.#session) this.#emit(event, events);
    });
    for (const domain of ['Page', 'Runtime', 'Log', 'Inspector']) await this.#cdp.call(`${domain}.enable`, {}, this.#session);
  }

  /** Opens a URL. Resolves to the problem with the loaded page, if any. Rejects if nothing was loaded. */
  async go(url: string): Promise<string | undefined> {
    const loaded = this.#cdp.call('Page.navigate', { url }, this.#session);
    const late = sleep(LOAD_MS, undefined, { ref: false }).then(() => Promise.reject(new Error(`no response within ${LOAD_MS / 1000} s`)));
    const { errorText } = await Promise.race([loaded, late]);
    return typeof errorText === 'string' && errorText !== '' ? errorText : undefined;
  }

  /** Evaluates and awaits an expression. Rejects with the exception that it throws. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#cdp.call(
      'Runtime.evaluate',
      { expression, awaitPromise: true, returnByValue: true },
      this.#session,
    );
    if (exceptionDetails) throw new Error(describeException(exceptionDetails as ExceptionDetails));
    return (result as { value?: unknown }).value;
  }

  /** Resolves when an expression is true. Rejects after `ms` milliseconds. */
  async until(expression: string, ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (!(await this.evaluate(expression))) {
      if (performance.now() > end) throw new Error(`not ready after ${ms / 1000} s`);
      await sleep(POLL_MS);
    }
  }

  #endOf({ method, params, session }: CdpEvent): 'crashed' | 'was closed' | undefined {
    if (method === 'Inspector.targetCrashed' && session === this.#session) return 'crashed';
    if (method === 'Target.targetCrashed' && params['targetId'] === this.#target) return 'crashed';
    if (method === 'Target.targetDestroyed' && params['targetId'] === this.#target) return 'was closed';
    if (method === 'Target.detachedFromTarget' && params['sessionId'] === this.#session) return 'was closed';
    return undefined;
  }

  #emit({ method, params }: CdpEvent, events: TabEvents): void {
    if (method === 'Page.loadEventFired') events.load();
    else if (method === 'Runtime.exceptionThrown') events.error(describeException(params['exceptionDetails'] as ExceptionDetails));
    else if (method === 'Runtime.consoleAPICalled' && params['type'] === 'error')
      events.error((params['args'] as RemoteObject[]).map(toText).join(' '));
    else if (method === 'Log.entryAdded') {
      const { level, text, url } = params['entry'] as { level: string; text: string; url?: string };
      if (level === 'error') events.error(url === undefined ? text : `${text} (${url})`);
    }
  }
}

interface RemoteObject {
  value?: unknown;
  description?: string;
}
interface ExceptionDetails {
  text: string;
  exception?: RemoteObject;
}

const toText = ({ value, description }: RemoteObject): string =>
  description ?? (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
const describeException = ({ text, exception }: ExceptionDetails): string =>
  exception ? (toText(exception).split('\n', 1)[0] ?? text) : text;
