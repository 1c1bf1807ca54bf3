import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { waitFor } from '../support/test-gateway.ts';
import { findLowContrast, findOverflow, waitForNoProblems } from './accessibility.ts';
import { launchBrowser, type TestBrowser } from './test-browser.ts';
import { waitForConnection, LINKED_STATUS, openLinkedPage } from './connection-status.ts';
import { type Perch, startPerch } from './perch-process.ts';
import { addProvider, connectOutside } from './outside-client.ts';
import { takeScreenshots } from './take-screenshots.ts';
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts';

const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });
const toCodeBlock = (language: string, code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;

describe('a rendered answer', () => {
  let perch: Perch;
  let browser: TestBrowser;
  let model: ScriptedModel;
  beforeAll(async () => {
    model = await startScriptedModel();
    perch = await startPerch();
    browser = await launchBrowser();
    using outside = await connectOutside(perch);
    await addProvider(outside.client, model.url);
    await outside.client.call('config.set', { key: 'chat.model', value: 'local/told' });
    await (await openLinkedPage(browser, perch)).close();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await perch?.[Symbol.asyncDispose]();
    await model?.[Symbol.asyncDispose]();
  });

  /** A page with a new chat, which has been asked something. */
  async function openWithReply(text = 'Show me'): Promise<Page> {
    const page = await browser.page(perch.url);
    await waitForConnection(page, LINKED_STATUS);
    browser.complaints.length = 0;
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.fill(text);
    await composer.press('Enter');
    return page;
  }

  const safe = (): void => {
    expect(browser.foreignRequests).toEqual([]);
    expect(browser.complaints).toEqual([]);
  };

  verifies('rendering/footnotes', 'a reference leads to the footnote of its own reply, and back', async () => {
    const text = 'Text[^1] more[^2], **「重点」**的\n\n[^1]: note\n\n[^2]: A [longer](https://example.com/) note.';
    model.queueReply(text);
    const page = await openWithReply();
    await replies(page).getByText('note.').waitFor();
    model.queueReply(text);
    await page.getByRole('textbox', { name: 'Message' }).fill('Again');
    await page.getByRole('textbox', { name: 'Message' }).press('Enter');
    const reply = replies(page).nth(1);
    await reply.getByText('note.').waitFor();
    expect(await reply.locator('strong').textContent()).toBe('「重点」');
    const focused = (): Promise<string> => page.evaluate(() => document.activeElement?.textContent.replace(/\s+/g, ' ').trim() ?? '');
    const reference = reply.getByRole('link', { name: 'Footnote 2' });
    await reference.click();
    expect(await focused()).toBe('A longer note. ↩');
    expect(await reply.evaluate((element) => element.contains(document.activeElement))).toBe(true);
    await reply.getByRole('button', { name: 'Back to reference 2' }).click();
    expect(await focused()).toBe('[2]');
    await reply.getByRole('link', { name: 'Footnote 1' }).press('Enter');
    expect(await focused()).toBe('note ↩');
    const copied = await reply.locator('.prose').evaluate((element) => {
      getSelection()?.selectAllChildren(element);
      return getSelection()?.toString();
    });
    expect(copied).toContain('Text[1] more[2]');
    expect(page.url()).not.toContain('#');
    safe();
    await page.close();
  });

  verifies('rendering/directions', 'each paragraph, item and cell runs as it begins, code from left to right', async () => {
    model.queueReply(
      [
        'مرحبا، هذه فقرة.',
        'An English one (in brackets).',
        '- First point.\n- نقطة ثانية.',
        '| المدينة | Size |\n| --- | --- |\n| دمشق | Very large. |',
        'وهذا `let a = 1;` في سطر.',
        toCodeBlock('ts', 'const b = 2;'),
      ].join('\n\n'),
    );
    const page = await openWithReply('سؤال بالعربية.\nAnd in English.');
    await replies(page).getByText('const b = 2;').waitFor();
    /** How far the first character of a text stands from the left and the right edge of what it is in. */
    const side = (selector: string, words: string): Promise<'left' | 'right'> =>
      page.evaluate(
        ([within, text]) => {
          const walker = document.createTreeWalker(document.querySelector(within) ?? document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const node = walker.currentNode;
            const at = node.textContent?.indexOf(text) ?? -1;
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + 1);
            const letter = range.getBoundingClientRect();
            const box = node.parentElement?.closest('p, li, td, th, pre, .bubble')?.getBoundingClientRect() ?? letter;
            return letter.left - box.left < box.right - letter.right ? 'left' : 'right';
          }
          throw new Error(`${text} is not there`);
        },
        [selector, words] as const,
      );
    const reply = 'article:not(.mine) .prose';
    expect(await side(reply, 'مرحبا')).toBe('right');
    expect(await side(reply, 'An English')).toBe('left');
    // By its full stop, which stands behind the words whichever way they run.
    const stop = async (text: string): Promise<boolean> =>
      page.evaluate((words) => {
        const item = [...document.querySelectorAll('.prose :is(li, td)')].find((each) => each.textContent?.includes(words));
        const node = item?.firstChild;
        if (!node?.textContent) throw new Error(`${words} is not there`);
        const range = document.createRange();
        const getCharRect = (at: number): DOMRect => (range.setStart(node, at), range.setEnd(node, at + 1), range.getBoundingClientRect());
        return getCharRect(node.textContent.trimEnd().length - 1).left > getCharRect(0).left;
      }, text);
    expect(await stop('First point.')).toBe(true);
    expect(await stop('نقطة ثانية.')).toBe(false);
    expect(await stop('Very large.')).toBe(true);
    expect(await side(reply, 'const')).toBe('left');
    expect(await side('.mine .bubble', 'سؤال')).toBe('right');
    expect(await side('.mine .bubble', 'And in')).toBe('left');
    await takeScreenshots(page, 'directions');
    safe();
    await page.close();
  });

  verifies('rendering/code', 'code has colours of its language, readable in light and dark', async () => {
    model.queueReply(
      [
        toCodeBlock('ts', 'const a = "x < y"; // why\nfunction go(n: number): Promise<void> { return n > 42; }'),
        toCodeBlock('diff', '+new\n-old'),
        toCodeBlock('html', '<!-- c -->\n<p class="a">&amp;<script>window.hacked=1</script></p>'),
        toCodeBlock('no-such-language', 'const plain = 1;'),
        'the end',
      ].join('\n\n'),
    );
    const page = await openWithReply();
    await replies(page).getByText('the end').waitFor();
    const code = page.locator('[data-code] code');
    await code.nth(0).locator('.code-keyword').getByText('const', { exact: true }).waitFor();
    await code.nth(1).locator('.code-removed').waitFor();
    await code.nth(2).locator('.code-string').first().waitFor();
    expect(await code.nth(2).textContent()).toBe('<!-- c -->\n<p class="a">&amp;<script>window.hacked=1</script></p>');
    expect(await code.nth(3).locator('span').count()).toBe(0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await waitForNoProblems(() => findLowContrast(page), colorScheme)).toEqual([]);
    }
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    safe();
    await page.close();
  });

  verifies('rendering/code', 'code of more than 50,000 characters, also in one line, has no colours and keeps its place', async () => {
    const long = `let a = ${'1+'.repeat(25_000)}1;`;
    const line = 'x'.repeat(60_000);
    model.queueReply([toCodeBlock('ts', long), toCodeBlock('ts', line), toCodeBlock('ts', 'let last = 1;')].join('\n\n'));
    const page = await openWithReply();
    const code = page.locator('[data-code] code');
    await code.nth(2).locator('.code-keyword').waitFor();
    expect(await code.nth(0).textContent()).toBe(long);
    expect(await code.nth(0).locator('span').count()).toBe(0);
    expect(await code.nth(1).evaluate((element) => element.textContent.length)).toBe(line.length);
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    safe();
    await page.close();
  });

  verifies('rendering/streams', 'what is finished stays the same nodes while an answer grows, code in its colours', async () => {
    const streamingReply = model.beginReply();
    const page = await openWithReply();
    await streamingReply.sendText('First **words**.\n\n```ts\nconst a = 1;\nlet');
    const code = page.locator('[data-code] code');
    await code.locator('.code-number').waitFor();
    await page.evaluate(() => {
      const keptElements = [...document.querySelectorAll('.prose strong, [data-code] .code-keyword, [data-code] .code-number')].slice(0, 3);
      Object.assign(window, { kept: keptElements });
    });
    await streamingReply.sendText(' b = 2;\n');
    await waitFor(async () => (await code.locator('.code-number').count()) === 2, 'the added line to have its colours');
    await streamingReply.sendText('```\n\nLast.');
    await streamingReply.end();
    await replies(page).getByRole('button', { name: 'Copy reply' }).waitFor();
    expect(await page.evaluate(() => (window as unknown as { kept: Element[] }).kept.map(({ isConnected }) => isConnected))).toEqual([
      true,
      true,
      true,
    ]);
    expect(await code.textContent()).toBe('const a = 1;\nlet b = 2;');
    safe();
    await page.close();
  });

  verifies(
    'rendering/math',
    'formulas are set in each of their forms, by fonts of this origin, and read to assistive technology',
    async () => {
      model.queueReply(
        [
          'Inline $E = mc^2$, \\(\\alpha_1\\) and a price of $5, or $10.',
          '$$\n\\frac{a}{b}\n= \\sqrt{2}\n$$',
          `\\[${'x + '.repeat(200)}y\\]`,
          'the end',
        ].join('\n\n'),
      );
      const page = await openWithReply();
      await replies(page).getByText('the end').waitFor();
      const math = page.locator('.math');
      await math.nth(3).locator('.katex').waitFor();
      expect(await math.count()).toBe(4);
      expect(await math.locator('math').count()).toBe(4);
      expect(await math.locator('annotation').allTextContents()).toEqual([
        'E = mc^2',
        '\\alpha_1',
        '\\frac{a}{b}\n= \\sqrt{2}',
        `${'x + '.repeat(200)}y`,
      ]);
      await replies(page).getByText('and a price of $5, or $10.').waitFor();
      await page.evaluate(() => document.fonts.ready);
      expect(await page.evaluate(() => [...document.fonts].some(({ family, status }) => /KaTeX/.test(family) && status === 'loaded'))).toBe(
        true,
      );
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
      await takeScreenshots(page, 'math');
      safe();
      await page.close();
    },
  );

  verifies('rendering/math', 'formulas that are broken, too long, hostile or grow without end are shown as they are written', async () => {
    const sources = [
      '$\\frac{$',
      `$${'x'.repeat(10_000)}$`,
      `$$\\def\\a{${'x'.repeat(3_000)}}${'\\a'.repeat(190)}$$`,
      '$\\newcommand{\\a}{\\a\\a}\\a$',
      `$\\begin{matrix}${'1&'.repeat(19)}1${`\\\\${'1&'.repeat(19)}1`.repeat(20)}\\end{matrix}$`,
      // Set, each would be some two thousand elements within each other, which end the tab when they are laid out.
      `$${'x^{'.repeat(300)}y${'}'.repeat(300)}$`,
      `$${'\\frac{1}{'.repeat(300)}y${'}'.repeat(300)}$`,
    ];
    model.queueReply(
      [
        ...sources,
        '$\\href{javascript:window.hacked=1}{l}\\includegraphics{http://203.0.113.1/a.png}\\url{http://203.0.113.1}$',
        '$\\rule{9999999em}{9999999em}$',
        'then $x^2$',
      ].join('\n\n'),
    );
    const page = await openWithReply();
    const math = page.locator('.math');
    await math
      .nth(sources.length + 2)
      .locator('.katex')
      .waitFor();
    for (const [index, source] of sources.entries()) {
      expect(await math.nth(index).textContent(), source.slice(0, 40)).toBe(source);
      expect(await math.nth(index).locator('.katex').count(), source.slice(0, 40)).toBe(0);
    }
    expect(await replies(page).locator('a, img').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true);
    safe();
    await page.close();
  });

  verifies('rendering/hostile', 'what would be read in another order than it has is not', async () => {
    model.queueReply(
      `Open \u202egnp.exe\u202c, please. \u0627\u0647\u0644\u0627\u200f!\n\n${toCodeBlock('js', 'if (user\u202e\u2066// admin\u2069) go(`1|2` > 0);')}\n\nLast.`,
    );
    const page = await openWithReply('See \u202egnp.exe');
    await replies(page).getByText('Last.').waitFor();
    expect(await page.locator('article', { hasText: 'See' }).locator('.bubble').textContent()).toBe('See gnp.exe');
    expect(await replies(page).locator('p').first().textContent()).toBe('Open gnp.exe\u202c, please. \u0627\u0647\u0644\u0627\u200f!');
    expect(await replies(page).locator('pre').textContent()).toBe('if (user\\u{202e}\\u{2066}// admin\\u{2069}) go(`1|2` > 0);');
    await page.locator('.sr-only[aria-live]').getByText('go(`1|2` > 0);').waitFor({ state: 'attached' });
    // Copying yields the model's source text.
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await replies(page).locator('figure').getByRole('button', { name: 'Copy' }).click();
    await waitFor(
      async () => (await page.evaluate(() => navigator.clipboard.readText())).includes('user\u202e'),
      'the code as it was written',
    );
    safe();
    await page.close();
  });

  verifies('rendering/hostile', 'marks that are stacked on letters stay in their message', async () => {
    const stacked = `Z${'\u0301\u0316'.repeat(40)}`.repeat(8);
    model.queueReply(`${stacked}\n\nLast.`);
    const page = await openWithReply(stacked);
    await replies(page).getByText('Last.').waitFor();
    await page.mouse.move(0, 0);
    /** How many colours there are in a strip of so many pixels, so far below the person's message. */
    const colours = async (): Promise<number> => {
      const { x, y, width, height } = (await page.locator('article .bubble').last().boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      const picture = await page.screenshot({ clip: { x, y: y + height + 2, width, height: 2 } });
      return page.evaluate(async (base64) => {
        const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))]));
        const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
        context?.drawImage(bitmap, 0, 0);
        return new Set(new Uint32Array(context?.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer ?? new ArrayBuffer(0))).size;
      }, picture.toString('base64'));
    };
    await waitFor(async () => (await colours()) === 1, 'nothing of it below the message');
    await page.close();
  });

  verifies('rendering/hostile', 'what is nested or opened without end leaves a page that can be typed in', async () => {
    const texts = [
      '>'.repeat(10_000),
      '- '.repeat(10_000),
      `${'['.repeat(20_000)}a${']'.repeat(20_000)}`,
      '<b>'.repeat(20_000),
      `${'**a *b '.repeat(2_000)}${'c* d** '.repeat(2_000)}`,
      '# A\n\n'.repeat(15_000),
      '$a_1$ '.repeat(5_000),
      `|${'a|'.repeat(5_000)}\n|${'-|'.repeat(5_000)}\n|${'b|'.repeat(5_000)}\n\nThis is`,
    ];
    for (const text of texts) {
      model.queueReply(`${text} the end\n\nLast.`);
      const page = await openWithReply();
      await replies(page)
        .getByText(/Last\.\s*$/)
        .waitFor({ timeout: 20_000 });
      await page.getByRole('textbox', { name: 'Message' }).fill('And now?');
      expect(await replies(page).textContent()).toContain('the end');
      expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
      safe();
      await page.close();
    }
  });

  verifies(
    'rendering/large',
    'a line of 400 KB stays when its reply ends, and after a reload; one of 1.5 MB is shown when it is asked for',
    async () => {
      for (const size of [400_000, 1_500_000]) {
        const answer = model.beginReply();
        const page = await openWithReply();
        for (let sent = 0; sent < size; sent += 60_000) await answer.sendText('perch '.repeat(10_000));
        await answer.sendText('the end');
        await answer.end();
        // The larger one is folded as soon as the reply has ended.
        await page.getByRole('button', { name: 'Regenerate' }).waitFor({ timeout: 90_000 });
        if (size > 1_000_000) await replies(page).getByRole('button', { name: 'Show', exact: true }).click();
        await replies(page)
          .getByText(/the end\s*$/)
          .waitFor();
        await page.reload();
        if (size > 1_000_000) {
          expect(await replies(page).textContent()).toContain('Long text (1.4 MB)');
          await replies(page).getByRole('button', { name: 'Show', exact: true }).click();
        }
        await replies(page)
          .getByText(/the end\s*$/)
          .waitFor();
        expect((await replies(page).locator('.prose').innerText()).length).toBeGreaterThan(size - 10);
        await page.getByRole('textbox', { name: 'Message' }).fill('And now?');
        expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
        safe();
        await page.close();
      }
    },
  );

  verifies('rendering/pictures', 'a picture from elsewhere is asked for when its address is pressed, and by the bridge alone', async () => {
    const requests: string[] = [];
    const server = createServer(({ url = '' }, response) => {
      requests.push(url);
      if (url === '/cat.png') response.setHeader('content-type', 'image/png').end(readFileSync('public/icon-192.png'));
      else if (url === '/broken.png') response.setHeader('content-type', 'image/png').end('no picture');
      else response.writeHead(404).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const siteAddress = `127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
    using outside = await connectOutside(perch);
    model.queueReply(['cat', 'broken', 'gone'].map((name) => `![A ${name}](http://${siteAddress}/${name}.png)`).join('\n\n'));
    const page = await openWithReply();
    const link = (name: string) => replies(page).getByRole('link', { name: `A ${name}` });
    await link('gone').waitFor();
    expect(requests).toEqual([]);
    // A private place is asked only where the person has named it.
    await link('cat').click();
    await replies(page).getByRole('alert').getByText('Couldn’t load the image').waitFor();
    expect(requests).toEqual([]);
    await outside.client.call('config.set', { key: 'tools.webFetch.allow', value: [siteAddress] });
    await page.reload();
    await link('cat').press('Enter');
    const catImage = replies(page).getByRole('img', { name: 'A cat' });
    await waitFor(() => catImage.evaluate((image: HTMLImageElement) => image.naturalWidth === 192), 'the picture');
    await link('broken').click();
    await replies(page).getByRole('alert').getByText('didn’t return an image this browser can show').waitFor();
    await link('gone').click();
    await replies(page).getByRole('alert').getByText('404').waitFor();
    expect(requests).toEqual(['/cat.png', '/broken.png', '/gone.png']);
    await takeScreenshots(page, 'pictures');
    expect(browser.complaints).toEqual([]);
    // A picture that could not be fetched can be opened at its address, which logs an error.
    const opened = page.context().waitForEvent('page');
    await link('gone').click();
    await (await opened).close();
    server.close();
    await page.close();
  });

  verifies('rendering/composed-links', 'a link of a reply that is still being written shows its address before it opens', async () => {
    const streamingReply = model.beginReply();
    const page = await openWithReply();
    await streamingReply.sendText('See [the report](https://evil.test/?q=secret) and ');
    const link = replies(page).getByRole('link', { name: 'the report' });
    await link.waitFor();
    for (const press of [() => link.click(), () => link.press('Enter')]) {
      await press();
      const dialog = page.getByRole('dialog', { name: 'Open this link?' });
      await dialog.getByText('https://evil.test/?q=secret').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
    }
    expect(page.context().pages()).toHaveLength(2);
    await streamingReply.sendText('more.');
    await streamingReply.end();
    await replies(page).locator('a[href="https://evil.test/?q=secret"]').waitFor();
    safe();
    await page.close();
  });

  verifies('rendering/large-results', 'what a tool answered is read to its end and copied, up to 1.4 MB', async () => {
    const rows = Array.from({ length: 16_000 }, (_, at) => ({ row: at, text: `${at} of the rows that a tool has found` }));
    const results = { found: JSON.stringify(rows.slice(0, 5_000)), all: `${JSON.stringify(rows)} the end` };
    const lines = [
      { id: 'asked', parentId: null, role: 'user', content: 'Look it up' },
      ...Object.entries(results).flatMap(([tool, content], at) => [
        {
          id: `call-${tool}`,
          parentId: at === 0 ? 'asked' : 'result-found',
          role: 'assistant',
          content: '',
          toolCalls: [{ id: `c-${tool}`, tool, args: {} }],
        },
        { id: `result-${tool}`, parentId: `call-${tool}`, role: 'tool', content, toolCallId: `c-${tool}`, name: tool },
      ]),
      { id: 'said', parentId: 'result-all', role: 'assistant', content: 'It is there.' },
    ].map((message, at) => JSON.stringify({ timestamp: 1_800_000_000_000 + at, ...message }));
    using outside = await connectOutside(perch);
    await outside.client.call('sessions.import', { content: lines.join('\n'), sessionId: 'large-results', title: 'Large results' });
    await browser.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const page = await browser.page(`${perch.url}/chat/main/large-results`);
    await waitForConnection(page, LINKED_STATUS);
    browser.complaints.length = 0;
    const card = (tool: string) =>
      replies(page)
        .locator('details')
        .filter({ has: page.locator(`summary code:text-is("${tool}")`) });
    const copied = async (tool: string): Promise<string> => {
      await card(tool).getByRole('button', { name: 'Copy result' }).click();
      await card(tool).getByRole('status').getByText('Copied').waitFor({ state: 'attached' });
      return page.evaluate(() => navigator.clipboard.readText());
    };
    // Under a megabyte it is there once it is looked at, and the rest of it on a press.
    await card('found').locator('summary').click();
    await card('found').getByText('more characters').waitFor();
    await takeScreenshots(page, 'large-result');
    await card('found').getByRole('button', { name: 'Show', exact: true }).click();
    await card('found').getByText('4999 of the rows').waitFor();
    expect(await copied('found')).toBe(results.found);
    // Over it, when it is asked for; and it is copied whole without that.
    await card('all').locator('summary').click();
    await card('all')
      .getByText(/^Long text/)
      .waitFor();
    expect(await copied('all')).toBe(results.all);
    await page.reload();
    await card('all').locator('summary').click();
    await card('all')
      .getByText(/^Long text/)
      .waitFor();
    await card('all').getByRole('button', { name: 'Show', exact: true }).click();
    await card('all').getByText('more characters').waitFor();
    expect(await replies(page).textContent()).not.toContain('left out here');
    expect(await waitForNoProblems(() => findOverflow(page), 'too wide')).toEqual([]);
    safe();
    await page.close();
  });

  verifies('rendering/math', 'nothing of it is loaded before a formula is there', async () => {
    model.queueReply('Plain **words** and `code`.');
    const page = await openWithReply();
    await replies(page).getByText('Plain').waitFor();
    expect(await page.evaluate(() => [...document.fonts].filter(({ family }) => /KaTeX/.test(family)).length)).toBe(0);
    model.queueReply('$x$');
    const composer = page.getByRole('textbox', { name: 'Message' });
    await composer.fill('And now?');
    await composer.press('Enter');
    await page.locator('.katex').first().waitFor();
    expect(await page.evaluate(() => [...document.fonts].filter(({ family }) => /KaTeX/.test(family)).length)).toBeGreaterThan(0);
    safe();
    await page.close();
  });
});
