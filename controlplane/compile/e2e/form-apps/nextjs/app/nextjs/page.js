import { redirect } from 'next/navigation';

async function post() {
  'use server';
  redirect('/nextjs?posted');
}

export default function Page() {
  return (
    <form action={post}>
      <button>Send</button>
    </form>
  );
}
