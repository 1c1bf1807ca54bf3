import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
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

const root = join(import.meta.dirname, '../..');

/** HTML that runs or loads something in a page that takes it as it is. `ELSEWHERE`: an address of another server. */
const ATTACKS = [
  '<script>hacked = "script"</script>',
  '<script src="ELSEWHERE/script.js"></script>',
  '<img src="ELSEWHERE/picture.png" onerror="hacked = \'error\'">',
  '<img src=x onerror="hacked = \'error\'">',
  '<img src="data:image/png;base64,AAAA" onerror="hacked = \'data\'">',
  '<img srcset="ELSEWHERE/set.png 1x" src="data:,">',
  '<picture><source srcset="ELSEWHERE/source.png"><img src="data:,"></picture>',
  '<svg onload="hacked = \'svg\'"></svg>',
  '<svg><script>hacked = "svg script"</script></svg>',
  '<svg><image href="ELSEWHERE/image.svg"></image></svg>',
  '<svg><animate attributeName="x" onbegin="hacked = \'animate\'" dur="1s" begin="0s"></animate></svg>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=hacked=`math`&gt;"></table></mtext></math>',
  '<form><math><mtext></form><form><mglyph><style></math><img src=x onerror="hacked = \'form\'">',
  '<noscript><p title="</noscript><img src=x onerror=hacked=`noscript`>"></noscript>',
  '<iframe src="ELSEWHERE/frame"></iframe>',
  '<iframe srcdoc="<script>parent.hacked = 1</script>"></iframe>',
  '<object data="ELSEWHERE/object"></object>',
  '<embed src="ELSEWHERE/embed">',
  '<video src="ELSEWHERE/video" autoplay></video>',
  '<audio src="ELSEWHERE/audio" autoplay></audio>',
  '<video poster="ELSEWHERE/poster"></video>',
  '<input type="image" src="ELSEWHERE/input">',
  '<body background="ELSEWHERE/body"><table background="ELSEWHERE/table"><tr><td>x</table>',
  '<link rel="stylesheet" href="ELSEWHERE/style.css">',
  '<link rel="preload" as="image" href="ELSEWHERE/preload.png">',
  '<style>@import url(ELSEWHERE/import.css); main { background: url(ELSEWHERE/background.png) }</style>',
  '<p style="background: url(ELSEWHERE/inline.png)">x</p>',
  '<details open ontoggle="hacked = \'toggle\'"><summary>x</summary>y</details>',
  '<b onfocus="hacked = \'focus\'" tabindex="0" autofocus>x</b>',
  '<p onpointerrawupdate="hacked = 1" onanimationstart="hacked = 1">x</p>',
  '<template><img src=x onerror="hacked = 1"></template>',
  '<div><template shadowrootmode="open"><img src="ELSEWHERE/shadow.png"></template></div>',
  '<xmp><img src=x onerror="hacked = 1"></xmp>',
  '<meta http-equiv="refresh" content="0;url=ELSEWHERE/refresh">',
  '<base href="ELSEWHERE/"><img src="base.png">',
  '<form action="ELSEWHERE/form" id="f"><button>Send</button></form>',
  '<a href="https://example.com/" ping="ELSEWHERE/ping">x</a>',
  '<a href="javascript:hacked=1">x</a>',
  '<p id="location" name="parts">x</p>',
];

/** Bare attributes, elements and schemes that no answer's nodes may have. */
const FORBIDDEN =
  'script, style, link, meta, base, iframe, object, embed, form, input, button, video, audio, source, picture, svg, math, template, noscript, xmp, ' +
  '[style], [srcset], [ping], [id], [name], [background], [tabindex]:not(.table), [autofocus]';

let at: UntrustedSite;
beforeAll(async () => {
  at = await startUntrustedSite();
}, 120_000);
afterAll(() => at?.[Symbol.asyncDispose]());

/** Faults in each of the nodes that `make` builds from an attack, on the page. */
async function findFaults(page: Page, texts: readonly string[], make: 'render' | 'sanitize'): Promise<string[]> {
  return page.evaluate(
    async ([attacks, forbidden, how]) => {
      const main = document.querySelector('main') ?? document.body;
      const found: string[] = [];
      for (const text of attacks) {
        main.replaceChildren(how === 'render' ? parts.renderMarkdown(text, false) : parts.sanitizeHtml(text));
        for (const element of main.querySelectorAll('*')) {
          const bad = [...element.attributes].filter(
            ({ name, value }) => name.startsWith('on') || /^\s*(?:javascript|vbscript):/i.test(value),
          );
          if (element.matches(forbidden) || bad.length > 0) found.push(`${text} left ${element.outerHTML}`);
        }
        for (const link of main.querySelectorAll('a')) if (!link.protocol.startsWith('http')) link.click();
        await new Promise(requestAnimationFrame);
        if (window.hacked !== undefined) found.push(`${text} ran: ${window.hacked}`);
        delete window.hacked;
      }
      return found;
    },
    [texts, FORBIDDEN, make] as const,
  );
}

describe('content of others on a page', () => {
  const attacks = (): string[] => ATTACKS.map((text) => text.replaceAll('ELSEWHERE', at.recorder.url));

  verifies('rendering/sanitized', 'the sanitizer alone leaves nothing that runs, styles or submits', async () => {
    const page = await at.page('/');
    // Pictures and links are checked after it.
    const texts = attacks().filter((text) => !/<a href="https/.test(text));
    const foreign = texts.filter((text) => !/<img src="http|<(?:base|body)/.test(text));
    expect(await findFaults(page, texts, 'sanitize')).toEqual([]);
    at.recorder.requests.length = 0;
    expect(await findFaults(page, foreign, 'sanitize')).toEqual([]);
    expect(await at.findRequests(page)).toEqual([]);
    await page.close();
  });

  verifies('rendering/sanitized', 'HTML in Markdown is shown as the text it is, and no picture is asked for', async () => {
    const page = await at.page('/');
    const inline = attacks().flatMap((text) => [text, `Before ${text} after`, `- ${text}`, `> ${text}`, `| a |\n| - |\n| ${text} |`]);
    const markdown = [
      '[x](javascript:hacked=1)',
      '[x](JaVaScRiPt&colon;hacked=1)',
      '[x](data:text/html,<script>hacked=1</script>)',
      '<javascript:hacked=1>',
      `![x](${at.recorder.url}/markdown.png)`,
      `![x](//${new URL(at.recorder.url).host}/relative.png)`,
      `![x](data:image/svg+xml,<svg onload="hacked=1"/>)`,
      `![x" onerror="hacked=1](x "y' onerror='hacked=1")`,
      `[x][ref]\n\n[ref]: javascript:hacked=1`,
      '```html" onclick="hacked=1\n<script>hacked=1</script>\n```',
      '$\\href{javascript:hacked=1}{x}$',
    ];
    expect(await findFaults(page, [...inline, ...markdown], 'render')).toEqual([]);
    const shown = await page.evaluate(() => {
      const main = document.createElement('main');
      main.append(parts.renderMarkdown('Before <img src=x onerror="hacked=1"> after <b>bold</b> <b onclick="hacked=1">not</b>', false));
      return main.innerHTML.trim();
    });
    expect(shown).toBe('<p>Before &lt;img src=x onerror="hacked=1"&gt; after <b>bold</b> <b>not</b></p>');
    expect(await at.findRequests(page)).toEqual([]);
    await page.close();
  });

  verifies('rendering/sanitized', 'a link leads to the web or to a mail, and a worker runs scripts of the app alone', async () => {
    const page = await at.page('/');
    const found = await page.evaluate(() => {
      const links = ['https://a.test/', 'mailto:a@a.test', 'ftp://a.test/', 'tel:1', 'sms:1', 'xmpp:a']
        .map((url) => `[x](${url})`)
        .join(' ');
      const hrefs = [...parts.renderMarkdown(links, false).querySelectorAll('a')].map((link) => link.getAttribute('href'));
      const scripts = ['/own.js', 'https://a.test/a.js', 'data:text/javascript,1', 'blob:null/1'].map((url) => {
        try {
          return String(parts.toTrustedScriptUrl(url)).replace(location.origin, '');
        } catch (error) {
          return error instanceof Error ? error.name : '';
        }
      });
      return { hrefs, scripts };
    });
    expect(found).toEqual({
      hrefs: ['https://a.test/', 'mailto:a@a.test', null, null, null, null],
      scripts: ['/own.js', 'TypeError', 'TypeError', 'TypeError'],
    });
    await page.close();
  });

  verifies('rendering/composed-links', 'a link that the model composed has no address until a policy knows it', async () => {
    const page = await at.page('/');
    const links = (quoted: string[] | null): Promise<unknown> =>
      page.evaluate((known) => {
        const main = document.querySelector('main') ?? document.body;
        if (main.childElementCount === 0)
          main.append(
            parts.renderMarkdown('[a](https://read.test/) [b](https://evil.test/?q=secret) [c](mailto:evil@evil.test?body=secret)', false),
          );
        parts.guardLinks(main, known === null ? undefined : { sources: ['web:read.test'], quoted: new Set(known) });
        return [...main.querySelectorAll('a')].map((link) => [link.getAttribute('href'), link.dataset['composed'], link.tabIndex]);
      }, quoted);
    expect(await links(['https://read.test/'])).toEqual([
      ['https://read.test/', undefined, 0],
      [null, 'https://evil.test/?q=secret', 0],
      [null, 'mailto:evil@evil.test?body=secret', 0],
    ]);
    const open = [
      ['https://read.test/', undefined, 0],
      ['https://evil.test/?q=secret', undefined, 0],
      ['mailto:evil@evil.test?body=secret', undefined, 0],
    ];
    expect(await links(null)).toEqual(open);
    await page.close();
  });

  verifies('rendering/diagrams', 'a picture that is saved runs nothing and names nothing elsewhere', async () => {
    const page = await at.page('/');
    const open =
      '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" onload="hacked=1" width="10" height="10">';
    const pieces = [
      '<script>hacked = 1</script>',
      '<style>@import url(ELSEWHERE/a.css); rect { fill: red }</style>',
      '<style>@\\69mport "ELSEWHERE/b.css";</style>',
      '<style>rect { mask-image: u\\72l(ELSEWHERE/c.svg) }</style>',
      '<style>rect { mask-image: \\75&#13;&#10;rl("ELSEWHERE/d.svg") }</style>',
      '<style>rect { mask-image: image-set("ELSEWHERE/e.svg" 1x) }</style>',
      '<style>rect { mask-image: \\5c 75rl(ELSEWHERE/f.svg); fill: url(ELSEWHERE/f.svg) }</style>',
      '<style>rect { mask-image: url(ELSEWHERE/g.svg</style>',
      '<style>rect { mask-image: u@import "x";rl(ELSEWHERE/p.svg) }</style>',
      '<rect fill="url(ELSEWHERE/h.svg#x)"/>',
      '<rect style="mask-image: url(ELSEWHERE/i.svg"/>',
      '<image href="ELSEWHERE/j.png"/>',
      '<image xlink:href="ELSEWHERE/k.png"/>',
      '<image href="data:image/png;base64,AAAA"><animate attributeName="href" to="ELSEWHERE/l.png"/></image>',
      '<use href="ELSEWHERE/m.svg#x"/>',
      '<filter id="f"><feImage href="ELSEWHERE/n.png"/></filter>',
      '<foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="ELSEWHERE/o.png" onerror="hacked=1"/></foreignObject>',
      '<a href="javascript:hacked=1"><text>Link</text></a>',
    ].map((piece) => piece.replaceAll('ELSEWHERE', at.recorder.url));
    for (const piece of pieces) {
      const saved = await page.evaluate(
        (source) => parts.toSvgFile({ svg: source, width: 10, height: 10 }).text(),
        `${open}<rect width="5" height="5"/>${piece}<text>Words</text></svg>`,
      );
      expect(saved, piece).toMatch(/^<svg [^]*Words[^]*<\/svg>$/);
      expect(saved, piece).not.toMatch(/script|hacked|foreignObject|<animate/);
      // As a document, in which escapes are undone.
      await page.evaluate(async (svg) => {
        const frame = document.createElement('iframe');
        frame.src = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
        const loaded = new Promise((resolve) => (frame.onload = resolve));
        document.body.append(frame);
        await loaded;
      }, saved);
    }
    expect(await at.findRequests(page)).toEqual([]);
    // References within the picture stay.
    const inner =
      '<style>rect { fill: url(#f); content: "\\201c" }</style><rect fill="url(\'#f\')"/><image href="data:image/png;base64,AAAA"/>';
    expect(
      await page.evaluate((source) => parts.toSvgFile({ svg: source, width: 1, height: 1 }).text(), `${open}${inner}</svg>`),
    ).toContain(
      '<style>rect { fill: url(#f); content: "\\201c" }</style><rect fill="url(\'#f\')"/><image href="data:image/png;base64,AAAA"/>',
    );
    await page.close();
  });

  verifies('rendering/diagrams', 'Mermaid asks for no picture that a diagram names', async () => {
    const page = await at.page('/diagrams');
    const drawn = await page.evaluate(
      async ([script, source]) => {
        const channel = Promise.withResolvers<MessagePort>();
        window.addEventListener('message', ({ ports: [port] }) => port && channel.resolve(port));
        document.head.append(Object.assign(document.createElement('script'), { textContent: script }));
        const port = await channel.promise;
        const evaluateQuestion = async (question: unknown): Promise<string> => {
          const answer = new Promise<string>((resolve) => (port.onmessage = ({ data }) => resolve(String(data))));
          port.postMessage(question);
          return answer;
        };
        const library = await (await fetch('/mermaid.js')).blob();
        return [
          await evaluateQuestion({ library }),
          await evaluateQuestion({ source, look: { background: '#fff', variables: { fontFamily: 'sans-serif' } }, mostPx: 100_000 }),
        ];
      },
      [
        readFileSync(join(root, 'web/app/markdown/diagrams/draw.js'), 'utf8'),
        [
          `%%{init: {"themeCSS": ".node rect { fill: url(${at.recorder.url}/fill.svg#a) } @import url(${at.recorder.url}/import.css);"}}%%`,
          'flowchart LR',
          `  A@{ img: "${at.recorder.url}/node.png", label: "Pictured", w: 60, h: 60 } --> B[Plain]`,
        ].join('\n'),
      ] as const,
    );
    expect(JSON.parse(drawn[0] ?? '')).toEqual({ kind: 'loaded' });
    expect(drawn[1]).toContain('Pictured');
    expect(await at.findRequests(page)).toEqual([]);
    expect(drawn[1]).not.toContain(new URL(at.recorder.url).host);
    await page.close();
  });
});
