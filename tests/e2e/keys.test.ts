import { AuthenticationError, RateLimitError } from 'openai';
import { expect } from 'vitest';
import { GatewayClient, socketLink } from '../../shared/client/index.ts';
import { verifies } from '../requirements.ts';
import { waitForConnection } from './connection-status.ts';
import { launchBrowser } from './test-browser.ts';
import { startPerch } from './perch-process.ts';
import { createOpenai } from './openai-client.ts';
import { takeScreenshots } from './take-screenshots.ts';

const CHAT_REQUEST = { model: 'perch/main', messages: [{ role: 'user' as const, content: 'What can you do?' }] };

verifies(
  'keys/admitted',
  'a key made in the settings works in the openai package and over a socket, at a bridge that was started again too, until it is revoked',
  async () => {
    await using perch = await startPerch({ host: 'headless' });
    await using browser = await launchBrowser();
    const page = await browser.page(await perch.open());
    await waitForConnection(page, 'Connected');
    await page.goto(`${perch.url}/settings#keys`);
    const section = page.getByRole('region', { name: 'API keys for programs' });
    await section.getByRole('button', { name: 'Create API key' }).click();
    const form = page.getByRole('dialog', { name: 'Create API key' });
    await form.getByLabel('Name').fill('A script');
    const chosen = (): Promise<string[]> =>
      form.locator('input[type=checkbox]:checked').evaluateAll((all) => all.map((each) => (each as HTMLInputElement).value));
    expect(await chosen()).toEqual(['v1']);
    await form.getByRole('checkbox', { name: /^sessions/ }).check();
    await takeScreenshots(page, 'key-form');
    await form.getByLabel('Requests per minute').fill('3');
    await form.getByRole('button', { name: 'Create key' }).click();
    const secret = (await form.getByText(/^sk-perch-/).textContent()) ?? '';
    await form.getByRole('button', { name: 'Copy key' }).waitFor();
    await form.getByRole('button', { name: 'Done' }).click();
    await section.getByText('Up to 3 requests per minute').waitFor();
    await section.getByText('v1, sessions').waitFor();
    await takeScreenshots(page, 'keys');
    expect(await page.content()).not.toContain(secret);

    const openai = createOpenai(perch, secret);
    expect((await openai.chat.completions.create(CHAT_REQUEST)).choices).toHaveLength(1);
    const connect = (): Promise<GatewayClient> =>
      GatewayClient.connect(socketLink(new WebSocket(perch.wsUrl)), { params: { clientName: 'program', auth: { token: secret } } });
    const program = await connect();
    expect((await program.call('sessions.list', {})).sessions).toBeDefined();
    await expect(program.call('config.set', { key: 'chat.systemPrompt', value: 'Mine' })).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
    await expect(program.call('memory.list', {})).rejects.toMatchObject({ message: 'memory.list requires the scope "memory".' });
    program.close();

    await perch.restart();
    // Three at once; while they are made, one more may have come free.
    const calls = await Promise.allSettled(Array.from({ length: 6 }, () => openai.chat.completions.create(CHAT_REQUEST)));
    expect(calls.filter(({ status }) => status === 'fulfilled').length).toBeGreaterThanOrEqual(3);
    const refusals = calls.flatMap((call): unknown[] => (call.status === 'rejected' ? [call.reason] : []));
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) expect(refusal).toBeInstanceOf(RateLimitError);

    const open = await connect();
    await page.goto(`${perch.url}/settings#keys`);
    await section.getByRole('button', { name: 'Revoke…' }).click();
    await page.getByRole('dialog', { name: 'Revoke A script?' }).getByRole('button', { name: 'Revoke' }).click();
    await section.getByText('No API keys yet').waitFor();
    expect((await open.closed).code).toBe(1008);
    await expect(openai.chat.completions.create(CHAT_REQUEST)).rejects.toBeInstanceOf(AuthenticationError);
  },
  120_000,
);
