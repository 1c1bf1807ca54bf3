import { type Perch, type PerchOptions, startPerch } from '../e2e/perch-process.ts';
import { SocketCaller } from './caller.ts';

/** Starts Perch with default settings, but without a rate limit, and with `upstream` as the provider `bench` if given. */
export async function startBenchGateway({ upstream, ...options }: PerchOptions & { upstream?: string } = {}): Promise<Perch> {
  const perch = await startPerch(options);
  try {
    using caller = await SocketCaller.connect(perch.wsUrl, perch.token);
    await disableRateLimit(caller);
    if (upstream !== undefined) {
      await caller.call('config.set', { key: 'providers.bench', value: { baseUrl: upstream } });
      // The same server through Anthropic's Messages API.
      await caller.call('config.set', { key: 'providers.messages', value: { kind: 'anthropic', baseUrl: upstream, apiKey: 'bench' } });
    }
    return perch;
  } catch (error) {
    await perch[Symbol.asyncDispose]();
    throw new Error(`the gateway could not be made ready; it said:\n${perch.output.stderr}`, { cause: error });
  }
}

/** Connections opened from here on have no rate limit. */
export async function disableRateLimit(caller: SocketCaller): Promise<void> {
  await caller.call('config.set', { key: 'gateway.rateLimit', value: { perMinute: 0, burst: 1 } });
}
