/** The welcome of a first run: the three steps to a working setup, each with its button. */

import type { ComponentChildren, JSX } from 'preact';
import { useApp } from '../app.ts';
import { useKept } from '../kept.ts';
import { Button } from '../ui/button.tsx';
import { CONNECTING_KEY } from './connect-agent.tsx';
import { ImportAgents } from './import-agents.tsx';
import { ADDING_KEY } from './server-add.tsx';

export function Welcome(): JSX.Element {
  const { store, router } = useApp();
  const isAdding = useKept(ADDING_KEY, false);
  const isConnecting = useKept(CONNECTING_KEY, false);
  const agents = store.connectedClients.value.length;
  return (
    <>
      <section class="card wide welcome-card">
        <h2>Welcome to Plugboard</h2>
        <p>
          Plugboard runs the MCP servers of all your agents in one place. Here you see every call, and decide
          what is allowed.
        </p>
        <ol class="steps">
          <Step
            title="Add servers"
            about="Import those of your agents below, or add one: a known server, a command, or a snippet of its README."
          >
            <Button
              kind="primary"
              onPress={() => {
                isAdding.value = true;
                router.go(['servers']);
              }}
            >
              Add a server
            </Button>
          </Step>
          <Step
            title="Connect your agents"
            about={
              agents === 0
                ? 'Claude Code, Codex, Cursor and others need one line each, which you can copy.'
                : `${agents} connected. Others need one line each, which you can copy.`
            }
          >
            <Button
              onPress={() => {
                isConnecting.value = true;
                router.go(['clients']);
              }}
            >
              Connect an agent
            </Button>
          </Step>
          <Step
            title="Work as usual"
            about="Calls of your agents appear on this page, and calls that need your approval wait for you here."
          />
        </ol>
      </section>
      <ImportAgents />
    </>
  );
}

function Step(props: {
  readonly title: string;
  readonly about: string;
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <li>
      <strong>{props.title}</strong>
      <p class="hint">{props.about}</p>
      {props.children}
    </li>
  );
}
