// `npm run pictures`: those of the README and of the manifest, anew, taken of the built app's demo.
import { join } from 'node:path';
import type { Page } from 'playwright';
import { launchBrowser } from '../e2e/test-browser.ts';
import { startPerch } from '../e2e/perch-process.ts';

const root = join(import.meta.dirname, '../..');
const WIDE_VIEWPORT = { width: 1280, height: 800 };
const NARROW_VIEWPORT = { width: 390, height: 844 };

const replies = (page: Page) => page.getByRole('article', { name: 'Reply' });

/** A page made by a model, beside its chat. */
async function showArtifact(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Message' }).fill('Make a web page, please.');
  await page.keyboard.press('Enter');
  await replies(page).getByRole('button', { name: 'Preview' }).click();
  const more = page.getByRole('dialog').frameLocator('iframe').frameLocator('iframe').getByRole('button', { name: 'One more' });
  for (let bird = 0; bird < 7; bird++) await more.click();
}

async function openPage(page: Page, path: string, shown: string): Promise<void> {
  await page.goto(new URL(`${path}?demo`, page.url()).href);
  await page.getByText(shown).first().waitFor();
}

async function showContradictions(page: Page): Promise<void> {
  await openPage(page, '/wiki', 'Grey heron');
  await page.getByText('Contradictions', { exact: true }).click();
  await page.getByText('trees').first().waitFor();
}

/** Something on a picture of the desktop is pointed out. */
async function showAnnotation(page: Page): Promise<void> {
  await openPage(page, '/annotate', 'Capture desktop');
  await page.getByRole('button', { name: 'Capture desktop' }).click();
  await page.getByRole('button', { name: 'Arrow', exact: true }).click();
  const { mouse } = page;
  await mouse.move(690, 560);
  await mouse.down();
  await mouse.move(508, 526, { steps: 8 });
  await mouse.up();
  await page.getByRole('button', { name: 'Numbered marker', exact: true }).click();
  await mouse.click(716, 566);
  await page.keyboard.type('The nests add up to 18');
}

/** A chat with a tool's answer. */
const showToolChat = (page: Page): Promise<void> => openPage(page, '/chat/main/wiki', 'One says that the heron');

/** File, what is on it, how large, how light. */
const PICTURES: [file: string, show: (page: Page) => Promise<void>, size: typeof WIDE_VIEWPORT, scheme: 'light' | 'dark'][] = [
  ['docs/images/chat.png', showArtifact, WIDE_VIEWPORT, 'light'],
  ['docs/images/chat-dark.png', showArtifact, WIDE_VIEWPORT, 'dark'],
  ['docs/images/usage.png', (page) => openPage(page, '/usage', 'scripted-small'), WIDE_VIEWPORT, 'light'],
  ['docs/images/wiki.png', showContradictions, WIDE_VIEWPORT, 'light'],
  ['docs/images/annotate.png', showAnnotation, WIDE_VIEWPORT, 'light'],
  ['docs/images/approvals.png', (page) => openPage(page, '/approvals', 'npm run export'), WIDE_VIEWPORT, 'light'],
  ['public/screenshot-wide.png', showToolChat, WIDE_VIEWPORT, 'light'],
  ['public/screenshot-narrow.png', showToolChat, NARROW_VIEWPORT, 'light'],
];

await using perch = await startPerch({ host: 'tab' });
for (const [file, show, viewport, colorScheme] of PICTURES) {
  await using browser = await launchBrowser({ viewport, colorScheme });
  const page = await browser.page(`${perch.url}/?demo`);
  await page.getByText('This is a demo.').waitFor();
  // Its first chat asks for an approval while it is open.
  await page.goto(`${perch.url}/approvals?demo`);
  await page.getByText('npm run export').first().waitFor();
  await page.goto(`${perch.url}/?demo`);
  await show(page);
  // The same pages without the demo's own line.
  await page.addStyleTag({ content: '.demo { display: none !important }' });
  await page.mouse.move(0, 0);
  await page.screenshot({ path: join(root, file), animations: 'disabled', caret: 'hide' });
  console.log(file);
}
