import { afterAll, beforeAll, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import type * as Parts from './untrusted-exports.ts';
import { startUntrustedSite, type UntrustedSite } from './untrusted-site.ts';

/** Text that the page's script has written. */
declare const parts: typeof Parts;
declare global {
  interface Window {
    hacked?: string;
  }
}

let at: UntrustedSite;
beforeAll(async () => {
  at = await startUntrustedSite();
}, 120_000);
afterAll(() => at?.[Symbol.asyncDispose]());

verifies('app/csp', 'what a page may not load, run or send fails, whatever put it there', async () => {
  const other = await at.page('/');
  const page = await at.page('/guarded');
  const failed = await page.evaluate(async (elsewhere) => {
    // The DevTools protocol lets what it runs use `eval`, until that returns.
    await new Promise(requestAnimationFrame);
    const outcomes: Record<string, string> = {};
    const attempt = async (name: string, act: () => unknown): Promise<void> => {
      try {
        await act();
        outcomes[name] = 'worked';
      } catch (error) {
        outcomes[name] = error instanceof Error ? error.name : String(error);
      }
    };
    const loaded = (element: HTMLElement): Promise<void> =>
      new Promise((resolve, reject) => {
        element.onload = () => resolve();
        element.onerror = () => reject(new Error('not loaded'));
        document.body.append(element);
      });
    const make = <Name extends keyof HTMLElementTagNameMap>(name: Name, set: object): HTMLElementTagNameMap[Name] =>
      Object.assign(document.createElement(name), set);
    await attempt('inline script', () => {
      if (window.hacked !== undefined) return;
      throw new Error('blocked');
    });
    // Strings through which a page runs scripts.
    await attempt('innerHTML', () => void (document.createElement('p').innerHTML = '<b>x</b>'));
    await attempt('srcdoc', () => void (document.createElement('iframe').srcdoc = '<b>x</b>'));
    await attempt('script text', () => void (document.createElement('script').text = 'hacked = 1'));
    await attempt('eval', () => (0, eval)('1'));
    await attempt('Function', () => new Function('return 1')());
    await attempt('another policy', () =>
      (window as unknown as { trustedTypes: { createPolicy(name: string, rules: object): unknown } }).trustedTypes.createPolicy(
        'other',
        {},
      ),
    );
    await attempt('worker by text', () => new Worker('/parts.js'));
    await attempt('worker of another origin', () => new Worker(parts.toTrustedScriptUrl(`${elsewhere}/worker.js`)));
    // Addresses of elsewhere.
    await attempt('fetch', () => fetch(elsewhere));
    await attempt('beacon', () => {
      navigator.sendBeacon(elsewhere, 'x');
      throw new Error('heard by the server if it worked');
    });
    await attempt('WebSocket', () => {
      const socket = new WebSocket(elsewhere.replace('http', 'ws'));
      return new Promise((resolve, reject) => {
        socket.onopen = resolve;
        socket.onerror = () => reject(new Error('no socket'));
      });
    });
    await attempt('picture', () => loaded(make('img', { src: `${elsewhere}/picture.png` })));
    await attempt('style sheet', () => loaded(make('link', { rel: 'stylesheet', href: `${elsewhere}/style.css` })));
    await attempt('font', () => new FontFace('x', `url(${elsewhere}/font.woff2)`).load());
    await attempt('object', () => loaded(make('object', { data: `${elsewhere}/object` })));
    await attempt('base', () => {
      document.head.append(make('base', { href: `${elsewhere}/` }));
      if (!document.baseURI.startsWith(elsewhere)) throw new Error('ignored');
    });
    // A frame that is blocked loads an error page, and a form stays where it is: the server hears nothing.
    const frame = make('iframe', { src: `${elsewhere}/frame` });
    await loaded(frame);
    const form = make('form', { action: `${elsewhere}/form`, method: 'post' });
    document.body.append(form);
    form.submit();
    return outcomes;
  }, at.recorder.url);
  expect(Object.entries(failed).filter(([, outcome]) => outcome === 'worked')).toEqual([]);
  expect(Object.keys(failed)).toHaveLength(17);
  // Still allowed.
  expect(
    await page.evaluate(() => {
      new Worker(parts.toTrustedScriptUrl('/parts.js'), { type: 'module' }).terminate();
      return parts.renderMarkdown('**bold** <b>x</b>', false).textContent.trim();
    }),
  ).toBe('bold x');
  expect(await at.findRequests(other)).toEqual([]);
  await Promise.all([page.close(), other.close()]);
});
