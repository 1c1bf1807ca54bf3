import type { Page } from 'playwright';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { verifies } from '../requirements.ts';
import { useReplyFixture, toCodeBlock, replies } from './reply-fixture.ts';
import { getArtifactFrame, pane, preview } from './artifact-pane.ts';
import { ELSEWHERE_ARGS, type RecordingServer, startRecordingServer } from './recording-server.ts';

interface Attempt {
  html: (to: RecordingServer) => string;
  /** Requests that arrive if nothing blocks them. */
  requests: string[];
  /** Message of the pane if it ends the document; otherwise the document continues. */
  ends?: string;
}

const LEFT_MESSAGE = 'crashed or tried to open another page';

const toStunScript = ({ stun }: RecordingServer): string =>
  `{const p = new RTCPeerConnection({ iceServers: [{ urls: '${stun}' }] }); p.createDataChannel('x'); p.createOffer().then((o) => p.setLocalDescription(o));}`;

const attempts: Record<string, Attempt> = {
  'pictures, styles, fonts': {
    html: ({ url }) =>
      `<img src="${url}/img"><link rel=stylesheet href="${url}/css"><style>@import url(${url}/import);@font-face{font-family:x;src:url(${url}/font)}p{font-family:x;background:url(${url}/bg)}</style><p>x</p><svg><image href="${url}/svg"/></svg><video src="${url}/video" poster="${url}/poster"></video>`,
    requests: ['GET /img', 'GET /css', 'GET /import', 'GET /font', 'GET /bg', 'GET /svg', 'GET /video', 'GET /poster'],
  },
  hints: {
    html: ({ url }) =>
      `<link rel=dns-prefetch href="${url}"><link rel=preconnect href="${url}"><link rel=prefetch href="${url}/prefetch"><link rel=preload as=image href="${url}/preload"><link rel=modulepreload href="${url}/module"><link rel=icon href="${url}/icon"><script>const l=document.createElement('link');l.rel='preconnect';l.href='${url}';document.head.append(l)</script>`,
    requests: ['GET /prefetch', 'GET /preload', 'GET /module'],
  },
  'scripts and what they fetch': {
    html: ({ url }) =>
      `<script src="${url}/script"></script><script>import('${url}/import').catch(()=>{});fetch('${url}/fetch').catch(()=>{});fetch('${url}/blind',{mode:'no-cors'}).catch(()=>{});navigator.sendBeacon('${url}/beacon','x');const x=new XMLHttpRequest();x.open('GET','${url}/xhr');x.onerror=()=>{};x.send();new EventSource('${url}/events');new WebSocket('${url.replace('http', 'ws')}/ws')</script>`,
    requests: ['GET /script', 'GET /import', 'GET /fetch', 'GET /blind', 'GET /xhr', 'GET /events'],
  },
  workers: {
    html: ({ url }) => `<script>try{new Worker(URL.createObjectURL(new Blob(['fetch("${url}/worker")'])))}catch{}</script>`,
    requests: ['GET /worker'],
  },
  'calls by WebRTC': { html: (to) => `<script>try{${toStunScript(to)}}catch{}</script>`, requests: ['a datagram'] },
  'frames and objects': {
    html: ({ url }) => `<iframe src="${url}/frame"></iframe><object data="${url}/object"></object><embed src="${url}/embed">`,
    requests: ['GET /frame', 'GET /object', 'GET /embed'],
  },
  'going elsewhere while it is read': {
    html: ({ url }) => `<script>location.href='${url}/self'</script>`,
    requests: ['GET /self'],
    ends: LEFT_MESSAGE,
  },
  'going elsewhere later': {
    html: ({ url }) => `<script>addEventListener('load',()=>setTimeout(()=>location.assign('${url}/self')))</script>`,
    requests: ['GET /self'],
    ends: LEFT_MESSAGE,
  },
  'going elsewhere by a link': {
    html: ({ url }) => `<a id=a href="${url}/link">x</a><script>a.click()</script>`,
    requests: ['GET /link'],
    ends: LEFT_MESSAGE,
  },
  'going elsewhere from a document written anew': {
    html: ({ url }) =>
      `<script>addEventListener('load',()=>{document.open();document.write('<p>anew<script>location.assign("${url}/anew")<\\/script>');document.close()})</script>`,
    requests: ['GET /anew'],
    ends: 'The preview isn’t responding',
  },
  'going elsewhere by itself': {
    html: ({ url }) => `<meta http-equiv=refresh content="0;url=${url}/refresh">`,
    requests: ['GET /refresh'],
    ends: LEFT_MESSAGE,
  },
  'taking the page above along': {
    html: ({ url }) =>
      `<script>try{top.location.href='${url}/top'}catch{}try{parent.location.href='${url}/parent'}catch{}</script><a id=a target=_top href="${url}/a">x</a><script>a.click()</script>`,
    requests: ['GET /top'],
  },
  'windows, downloads and pings': {
    html: ({ url }) =>
      `<script>open('${url}/popup')</script><a id=a target=_blank href="${url}/blank"></a><a id=b download href="${url}/download"></a><a id=c ping="${url}/ping" href="#x"></a><script>a.click();b.click();c.click()</script>`,
    requests: ['GET /popup', 'GET /blank', 'GET /download'],
    ends: LEFT_MESSAGE,
  },
  forms: {
    html: ({ url }) =>
      `<form id=f method=get action="${url}/form"><input name=a value=b></form><form id=g target=_blank action="${url}/form2"></form><script>f.submit();g.submit()</script>`,
    requests: ['GET /form?a=b'],
    ends: LEFT_MESSAGE,
  },
};

/** Closes a page that may be on its way elsewhere: closed in the middle of that, it would at times never be told of as closed. */
async function closePage(page: Page): Promise<void> {
  await page.goto('about:blank').catch(() => {});
  await page.close();
}

describe('limits of an artifact', () => {
  const place = useReplyFixture(ELSEWHERE_ARGS);
  let elsewhere: RecordingServer;
  /** Hears the same attempts made where nothing forbids them: they do work, and what was not heard by then was not on its way. */
  let control: RecordingServer;
  beforeAll(async () => {
    elsewhere = await startRecordingServer();
    control = await startRecordingServer();
  });
  afterAll(async () => {
    await elsewhere[Symbol.asyncDispose]();
    await control[Symbol.asyncDispose]();
  });

  async function expectUnsandboxedEffects({ html, requests }: Attempt): Promise<void> {
    control.requests.length = 0;
    control.page = html(control);
    const page = await place.browser.page();
    void page.goto(`${control.url}/page`).catch(() => {});
    await expect.poll(() => control.requests).toEqual(expect.arrayContaining(requests));
  }

  for (const [name, attempt] of Object.entries(attempts)) {
    verifies('artifacts/sandbox', `no network: ${name}`, async () => {
      elsewhere.requests.length = 0;
      const page = await place.page(toCodeBlock('html', `${attempt.html(elsewhere)}<p id="done">there</p>`));
      const [chat, tabs] = [page.url(), place.browser.context.pages()];
      const downloads: string[] = [];
      page.on('download', (download) => downloads.push(download.url()));
      await preview(page).click();
      if (attempt.ends) await pane(page).getByText(attempt.ends).waitFor();
      else await getArtifactFrame(page).locator('#done').waitFor();
      expect(place.browser.context.pages()).toEqual(tabs);
      await expectUnsandboxedEffects(attempt);
      expect({ heard: elsewhere.requests, downloads, url: page.url() }).toEqual({ heard: [], downloads: [], url: chat });
      await replies(page).getByText('The end.').waitFor();
      for (const each of place.browser.context.pages().slice(1)) await closePage(each);
    });
  }

  verifies('artifacts/sandbox', 'nothing of the app, its storage, or the device', async () => {
    const looks = [
      'parent.document.title',
      'top.document.title',
      'parent.frameElement.id',
      'document.cookie',
      'indexedDB.open("perch")',
      'caches.keys()',
      'new SharedWorker("/x.js")',
      'navigator.serviceWorker.register("/service-worker.js")',
      'navigator.storage.getDirectory()',
      'navigator.locks.request("x", () => 1)',
      'new BroadcastChannel("perch").postMessage.nothing()',
      'navigator.clipboard.readText()',
      'navigator.mediaDevices.getUserMedia({ video: true })',
      'fetch("/health")',
    ];
    const page = await place.page(
      toCodeBlock(
        'html',
        `<script>
          parent.postMessage({ do: 'show', html: 'x' }, '*');
          top.postMessage({ type: 'OPEN', href: '/settings' }, '*');
          const looks = { ${looks.map((look, index) => `${index}: async () => ${look}`).join()} };
          Promise.allSettled(Object.values(looks).map((look) => look())).then((all) =>
            console.log('came to: ' + all.flatMap(({ status }, index) => (status === 'fulfilled' ? [looks[index]] : [])) + '.'));
        </script>`,
      ),
    );
    const chat = page.url();
    await preview(page).click();
    await pane(page).getByText('Console:').click();
    expect(await pane(page).getByText('came to:').textContent()).toBe('log came to: .');
    expect(page.url()).toBe(chat);
    await replies(page).getByText('The end.').waitFor();
    await page.close();
  });

  verifies('artifacts/sandbox', 'a script without an end leaves the app as it is, and is stopped', async () => {
    const page = await place.page(toCodeBlock('html', '<p>before</p><script>for (;;);</script>'));
    await preview(page).click();
    await pane(page).getByText('The preview isn’t responding').waitFor();
    await page.getByRole('textbox', { name: 'Message' }).fill('The app goes on');
    await pane(page).getByRole('button', { name: 'Stop preview' }).click();
    await pane(page).getByText('Stopped').waitFor();
    await pane(page).getByRole('button', { name: 'Close preview' }).click();
    await pane(page).waitFor({ state: 'detached' });
    await page.close();
  });

  for (const whom of ['parent', 'top'])
    verifies('artifacts/sandbox', `what floods the app with messages is ended: ${whom}`, async () => {
      const page = await place.page(
        toCodeBlock('html', `<script>setInterval(() => { for (let i = 0; i < 999; i++) ${whom}.postMessage("x", "*"); })</script>`),
      );
      await preview(page).click();
      await pane(page).getByText('sent too many messages').waitFor();
      await page.close();
    });

  verifies('artifacts/sandbox', 'it may load itself anew, and write itself anew', async () => {
    const page = await place.page(
      toCodeBlock('html', '<button onclick="location.reload()">Again</button><script>document.body.append(Math.random())</script>'),
    );
    await preview(page).click();
    const number = async (): Promise<string> => getArtifactFrame(page).locator('body').innerText();
    await getArtifactFrame(page).getByRole('button', { name: 'Again' }).waitFor();
    const first = await number();
    await getArtifactFrame(page).getByRole('button', { name: 'Again' }).click();
    await expect.poll(number).not.toBe(first);
    await getArtifactFrame(page).getByRole('button', { name: 'Again' }).waitFor();
    await page.close();
  });
});
