import { RpcError } from '#shared/rpc/errors.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const SETTINGS = 'Look at it in Settings → Providers.';

/** Providers that are configured, and the models that are to be used. */
export function modelChecks({ providers, config }: DoctorDeps): Check[] {
  const { settings } = config;
  let asked: ReturnType<typeof providers.states> | undefined;
  // Shared by the checks, and so not ended by one of them.
  const states = (): ReturnType<typeof providers.states> => (asked ??= providers.states({ refresh: true }));
  const configured = Object.entries(settings.providers).filter(([, { enabled }]) => enabled !== false);
  const model = async (key: string, whose: string, choose: string): Promise<Finding> => {
    const all = await states();
    let route;
    try {
      route = await providers.resolve(key);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== 'NOT_FOUND') throw error;
      return wrong(
        'error',
        `${whose} is ${key}, which there is not: ${error.message}`,
        `${choose}, or add its provider in Settings → Providers.`,
      );
    }
    const { id, name } = route.provider;
    const { state = 'ready' } = all.find((entry) => entry.id === id) ?? {};
    // What is wrong with the provider is told by its own check.
    if (state !== 'ready')
      return wrong(
        'warning',
        `${whose} is ${route.key}, and ${name} ${state === 'needs_key' ? 'wants a key' : 'cannot be reached'}.`,
        SETTINGS,
      );
    const listed = (await providers.list()).filter(({ provider }) => provider === id);
    // Many servers take models that they do not list.
    if (listed.length === 0 || listed.some((entry) => entry.key === route.key)) return fine(`${whose} is ${route.key}.`);
    return wrong('warning', `${whose} is ${route.key}, which ${name} does not list.`, `${choose}.`);
  };
  return [
    ...configured.map(([id, { name = id }]) => ({
      id: `provider:${id}`,
      title: `Provider ${name}`,
      async look() {
        const found = (await states()).find((entry) => entry.id === id);
        if (!found) return null;
        if (found.state === 'ready')
          return fine(`${name} answers and lists ${found.models === 1 ? 'one model' : `${found.models} models`}.`);
        if (found.state === 'needs_key')
          return wrong('error', found.message ?? `${name} wants a key.`, `Give ${name} its API key in Settings → Providers.`);
        return wrong('error', found.message ?? `${name} cannot be reached.`, SETTINGS);
      },
    })),
    {
      id: 'default-model',
      title: 'The default model',
      look() {
        const key = settings.chat.model;
        if (key === undefined)
          return wrong(
            'info',
            'No default model is chosen: the built-in guide answers for agents without a model of their own.',
            'Choose one in Settings → Default model.',
          );
        return model(key, 'The default model', 'Choose another in Settings → Default model');
      },
    },
    ...Object.entries(settings.agents).flatMap(([id, { model: key }]) =>
      key === undefined
        ? []
        : [
            {
              id: `agent-model:${id}`,
              title: `The model of ${id}`,
              look: () => model(key, `The model of agent ${id}`, `Set another as agents.${id}.model by \`config.set\``),
            },
          ],
    ),
  ];
}
