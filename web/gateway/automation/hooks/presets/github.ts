import { readJsonPath } from '../read-json-path.ts';
import { createReader, joinLines, type Preset, readExcerpt } from './preset.ts';

const MAX_COMMITS = 10;

/** Webhooks of GitHub (https://docs.github.com/en/webhooks/webhook-events-and-payloads). */
export const github: Preset = {
  summarize(headers, payload) {
    const read = createReader(payload);
    const name = headers.get('x-github-event') ?? '';
    const action = read('$.action');
    const event = action === '' ? name : `${name}.${action}`;
    const repository = read('$.repository.full_name');
    const sender = read('$.sender.login');
    const by = sender === '' ? '' : ` by ${sender}`;
    if (name === 'ping') return { event, message: `GitHub checked the hook of ${repository || 'an organization'}.`, isPing: true };
    const about = (subject: string, ...details: string[]): { event: string; message: string } => ({
      event,
      message: joinLines(`GitHub: ${subject} in ${repository}${by}`, ...details),
    });
    switch (name) {
      case 'push': {
        const branch = read('$.ref').replace(/^refs\/(?:heads|tags)\//, '');
        const commits = readJsonPath(payload, '$.commits[*]').slice(0, MAX_COMMITS).map(formatCommit);
        return about(`push to ${branch}`, ...commits, read('$.compare'));
      }
      case 'issues':
        return about(
          `issue #${read('$.issue.number')} ${action}`,
          read('$.issue.title'),
          read('$.issue.html_url'),
          action === 'opened' ? readExcerpt(payload, '$.issue.body') : '',
        );
      case 'pull_request': {
        const verb = action === 'closed' && read('$.pull_request.merged') === 'true' ? 'merged' : action;
        return about(
          `pull request #${read('$.number')} ${verb}`,
          read('$.pull_request.title'),
          read('$.pull_request.html_url'),
          action === 'opened' ? readExcerpt(payload, '$.pull_request.body') : '',
        );
      }
      case 'issue_comment':
        return about(`comment on #${read('$.issue.number')} ${action}`, read('$.comment.html_url'), readExcerpt(payload, '$.comment.body'));
      case 'release':
        return about(`release ${read('$.release.tag_name')} ${action}`, read('$.release.name'), read('$.release.html_url'));
      case 'workflow_run':
        return about(
          `workflow ${read('$.workflow_run.name')} ${read('$.workflow_run.conclusion') || action}`,
          read('$.workflow_run.head_branch'),
          read('$.workflow_run.html_url'),
        );
      default:
        return about(event);
    }
  },
  sample: {
    headers: { 'x-github-event': 'issues', 'x-github-delivery': '00000000-0000-0000-0000-000000000000' },
    payload: {
      action: 'opened',
      issue: {
        number: 1,
        title: 'A sample issue',
        html_url: 'https://github.com/octocat/hello-world/issues/1',
        body: 'This call is a test of the hook.',
      },
      repository: { full_name: 'octocat/hello-world' },
      sender: { login: 'octocat' },
    },
  },
};

function formatCommit(commit: unknown): string {
  const read = createReader(commit);
  return `- ${read('$.id').slice(0, 7)} ${readExcerpt(commit, '$.message').split('\n', 1)[0] ?? ''}`;
}
