import { RpcError } from '#shared/rpc/errors.ts';
import { type Check, type DoctorDeps, fine, type Finding, wrong } from './deps.ts';

const SETTINGS = 'Check the provider in Models.';

/** Checks of configured providers and of the models in use. */
export function modelChecks({ providers, config }: DoctorDeps): Check[] {
  const { settings } = config;
  let asked: ReturnType<typeof providers.states> | undefined;
  // Shared by the checks, so one check's time limit does not abort it.
  const states = (): ReturnType<typeof providers.states> => (asked ??= providers.states({ refresh: true }));
  const configured = Object.entries(settings.providers).filter(([, { enabled }]) => enabled !== false);
  const model = async (key: string, whose: string, choose: string): Promise<Finding> => {
    const all = await states();
    let route;
    try {
      route = await providers.resolve(key);
    } catch (error) {
      if (!(error instanceof RpcError) || error.code !== 'NOT_FOUND') throw error;
      return wrong('error', `${whose} is ${key}, which is not available. ${error.message}`, `${choose}, or add its provider in Models.`);
    }
    const { id, name } = route.provider;
    const { state = 'ready' } = all.find((entry) => entry.id === id) ?? {};
    // Problems of the provider are reported by its own check.
    if (state !== 'ready')
      return wrong(
        'warning',
        `${whose} is ${route.key}, but ${name} ${state === 'needs_key' ? 'needs an API key' : 'can’t be reached'}.`,
        SETTINGS,
      );
    const listed = (await providers.list()).filter(({ provider }) => provider === id);
    // Many servers accept models that they do not list.
    if (listed.length === 0 || listed.some((entry) => entry.key === route.key)) return fine(`${whose} is ${route.key}.`);
    return wrong('warning', `${whose} is ${route.key}, which is not in the model list of ${name}.`, `${choose}.`);
  };
  return [
    ...configured.map(([id, { name = id }]) => ({
      id: `provider:${id}`,
      title: `Provider ${name}`,
      async look() {
        const found = (await states()).find((entry) => entry.id === id);
        if (!found) return null;
        if (found.state === 'ready') return fine(`Connected. ${found.models === 1 ? '1 model' : `${found.models} models`} found.`);
        if (found.state === 'needs_key')
          return wrong('error', found.message ?? `${name} needs an API key.`, `Add the API key of ${name} in Models.`);
        return wrong('error', found.message ?? `Couldn’t reach ${name}.`, SETTINGS);
      },
    })),
    {
      id: 'default-model',
      title: 'Default model',
      look() {
        const key = settings.chat.model;
        if (key === undefined)
          return wrong(
            'info',
            'No default model is set. The built-in guide replies for agents without their own model.',
            'Choose a default model in Settings.',
          );
        return model(key, 'The default model', 'Choose another default model in Settings');
      },
    },
    ...Object.entries(settings.agents).flatMap(([id, { model: key }]) =>
      key === undefined
        ? []
        : [
            {
              id: `agent-model:${id}`,
              title: `Model of ${id}`,
              look: () => model(key, `The model of agent ${id}`, `Set another model in agents.${id}.model with \`config.set\``),
            },
          ],
    ),
  ];
}
