// `npm run pictures`: those of the README and of the manifest, anew, taken of the built app's demo.
import { join } from 'node:path';
import type { Page } from 'playwright';
import { launchBrowser } from '../e2e/browser.ts';
import { startPerch } from '../e2e/harness.ts';

const root = join(import.meta.dirname, '../..');
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 390, height: 844 };

const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });

/** A page made by a model, beside its chat. */
async function artifact(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill('Make a web page, please.');
  await page.keyboard.press('Enter');
  await replies(page).getByRole('button', { name: 'Preview' }).click();
  const more = page.getByRole('dialog').frameLocator('iframe').frameLocator('iframe').getByRole('button', { name: 'One more' });
  for (let bird = 0; bird < 7; bird++) await more.click();
}

async function opened(page: Page, path: string, shown: string): Promise<void> {
  await page.goto(new URL(`${path}?demo`, page.url()).href);
  await page.getByText(shown).first().waitFor();
}

async function contradictions(page: Page): Promise<void> {
  await opened(page, '/wiki', 'Grey heron');
  await page.getByText('Contradictions', { exact: true }).click();
  await page.getByText('trees').first().waitFor();
}

/** Something on a picture of the desktop is pointed out. */
async function annotated(page: Page): Promise<void> {
  await opened(page, '/annotate', 'Capture desktop');
  await page.getByRole('button', { name: 'Capture desktop' }).click();
  await page.getByRole('radio', { name: /^Arrow/ }).check({ force: true });
  const { mouse } = page;
  await mouse.move(820, 560);
  await mouse.down();
  await mouse.move(645, 530, { steps: 8 });
  await mouse.up();
  await page.getByRole('radio', { name: /arker/ }).check({ force: true });
  await mouse.click(850, 568);
}

/** A chat with a tool's answer. */
const asked = (page: Page): Promise<void> => opened(page, '/chat/main/wiki', 'One says that the heron');

/** File, what is on it, how large, how light. */
const PICTURES: [file: string, show: (page: Page) => Promise<void>, size: typeof WIDE, scheme: 'light' | 'dark'][] = [
  ['docs/images/chat.png', artifact, WIDE, 'light'],
  ['docs/images/chat-dark.png', artifact, WIDE, 'dark'],
  ['docs/images/usage.png', (page) => opened(page, '/usage', 'scripted-small'), WIDE, 'light'],
  ['docs/images/wiki.png', contradictions, WIDE, 'light'],
  ['docs/images/annotate.png', annotated, WIDE, 'light'],
  ['docs/images/approvals.png', (page) => opened(page, '/approvals', 'npm test'), WIDE, 'light'],
  ['public/screenshot-wide.png', asked, WIDE, 'light'],
  ['public/screenshot-narrow.png', asked, NARROW, 'light'],
];

await using perch = await startPerch({ host: 'tab' });
for (const [file, show, viewport, colorScheme] of PICTURES) {
  await using browser = await launchBrowser({ viewport, colorScheme });
  const page = await browser.page(`${perch.url}/?demo`);
  await page.getByText('This is a demo.').waitFor();
  // Its first chats are held before one's eyes; the last of them waits for a person.
  await page.goto(`${perch.url}/approvals?demo`);
  await page.getByText('npm test').first().waitFor();
  await page.goto(`${perch.url}/?demo`);
  await show(page);
  // The same pages without the demo's own line.
  await page.addStyleTag({ content: '.demo { display: none !important }' });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(root, file), animations: 'disabled', caret: 'hide' });
  console.log(file);
}
