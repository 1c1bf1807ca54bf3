import { expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { createTestGateway } from '../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../tests/support/raw-connection.ts';

verifies('tts/protocol-2', 'and at protocol 3 it needs the bridge', async () => {
  await using gw = await createTestGateway({ useGuide: true });
  expect(await sendRawRequest(gw, 'tts.speak', '{"text":"Hello"}', 2)).toMatchObject({ ok: false, error: { code: 'NOT_IMPLEMENTED' } });
  expect(await sendRawRequest(gw, 'tts.speak', '{"text":"Hello"}', 3)).toMatchObject({
    ok: false,
    error: { code: 'INTERNAL_ERROR', message: expect.stringContaining('needs the bridge') },
  });
});

verifies('tts/params', 'each with a voice, rate or pitch that is none', async () => {
  await using gw = await createTestGateway({ useGuide: true });
  const { client } = await gw.client();
  const wrong = [
    ...['Aria', 'en-us-AriaNeural', 'en-US-Aria', 'en-US-AriaNeural"/>', 'EN-US-AriaNeural'].map((voice) => ({ voice })),
    ...['10%', '+10', '+ 10%', '+1000%', '+1.5%'].map((rate) => ({ rate })),
    ...['5Hz', '+5', '+5hz', '-5000Hz'].map((pitch) => ({ pitch })),
  ];
  for (const params of wrong) {
    const [name = ''] = Object.keys(params);
    await expect(client.request('tts.speak', { text: 'Hello', ...params }), JSON.stringify(params)).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining(name),
    });
  }
  for (const params of [{ voice: 'zh-CN-liaoning-XiaobeiNeural' }, { voice: 'fil-PH-BlessicaNeural' }, { rate: '-50%', pitch: '+0Hz' }])
    await expect(client.request('tts.speak', { text: 'Hello', ...params })).rejects.toMatchObject({ code: 'INTERNAL_ERROR' });
});
